# Fails on words that must not be in a file of the project: places of one machine, addresses of package hosts.
file(GLOB_RECURSE files "${ROOT}/app/*" "${ROOT}/engine/*" "${ROOT}/ui/*" "${ROOT}/resources/*" "${ROOT}/packaging/*" "${ROOT}/tests/*.cpp"
     "${ROOT}/tests/*.h" "${ROOT}/tests/*.sh" "${ROOT}/tests/*.txt" "${ROOT}/tests/*.json" "${ROOT}/*.md")
foreach(file IN LISTS files)
    file(STRINGS "${file}" hits REGEX "(/root/|/home/[a-z]+/|/work/|\\.\\./shared|pypi\\.org|pythonhosted|index-url)")
    if(hits)
        message(SEND_ERROR "${file}: ${hits}\n  No machine's places and no package host belong into the project's files.")
    endif()
endforeach()
