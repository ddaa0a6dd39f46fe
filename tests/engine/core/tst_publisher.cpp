#include "engine/core/publisher.h"

#include <QTest>

#include <atomic>
#include <thread>
#include <vector>

using namespace mantissa;

class TestPublisher : public QObject {
    Q_OBJECT

private slots:
    void everySubscriberHearsOfAnEvent()
    {
        Publisher<int> publisher;
        std::vector<int> first;
        std::vector<int> second;
        const auto one = publisher.subscribe([&](int event) { first.push_back(event); });
        const auto two = publisher.subscribe([&](int event) { second.push_back(event); });

        publisher.publish(7);
        publisher.publish(8);

        QCOMPARE(first, (std::vector<int>{7, 8}));
        QCOMPARE(second, first);
    }

    void aSubscriptionEndsWithItsOwner()
    {
        Publisher<int> publisher;
        int heard = 0;
        {
            const auto subscription = publisher.subscribe([&](int) { ++heard; });
            publisher.publish(1);
        }

        publisher.publish(2);

        QCOMPARE(heard, 1);
    }

    void aSubscriptionMayOutliveItsPublisher()
    {
        Subscription subscription;
        {
            Publisher<int> publisher;
            subscription = publisher.subscribe([](int) {});
        }

        subscription.reset();
    }

    void noCallbackRunsOnceResetReturned()
    {
        Publisher<int> publisher;
        std::jthread publishing([&](const std::stop_token& stop) {
            while (!stop.stop_requested())
                publisher.publish(1);
        });
        for (int round = 0; round < 200; ++round) {
            auto alive = std::make_unique<std::atomic<bool>>(true);
            std::atomic<int> late = 0;
            auto subscription =
                publisher.subscribe([&, flag = alive.get()](int) { late += flag->load() ? 0 : 1; });

            subscription.reset();
            alive->store(false);

            QCOMPARE(late.load(), 0);
        }
    }
};

QTEST_APPLESS_MAIN(TestPublisher)
#include "tst_publisher.moc"
