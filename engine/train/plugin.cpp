#include "engine/train/local_service.h"

extern "C" __attribute__((visibility("default"))) mantissa::TrainingService* mantissaMakeTrainingService()
{
    return mantissa::makeLocalService().release();
}
