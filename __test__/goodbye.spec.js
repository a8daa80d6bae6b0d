'use strict';

const { setTimeout: pause } = require('node:timers/promises');

const { Announcer } = require('../index.js');
const { createLogger } = require('./helpers/harness.js');
const { Receiver } = require('./helpers/udp.js');

const STOPS = 200;

/** A heartbeat after the goodbye would bring a broker back that is gone. */
describe('an Announcer that is stopped', () => {
    let receiver;

    beforeEach(async () => {
        receiver = await new Receiver().bind();
    });

    afterEach(() => receiver.close());

    /** What the announcer of that id said, in order: `up` or `down`. */
    function wordsOf(id) {
        const fields = receiver.messages.map(message => message.split('\t'));
        return fields.filter(([, other]) => other === id).map(([, , word]) => word);
    }

    /** Announces until some moment within two intervals. */
    async function announceFor(ms, id) {
        const announcer = new Announcer({
            host: '10.0.0.1',
            port: 6379,
            id,
            interval: 0.02,
            destinations: [`127.0.0.1:${receiver.port}`],
            logger: createLogger(),
        });
        await announcer.start();
        await pause(ms);
        await announcer.stop();
    }

    it(`should say goodbye thrice and nothing more, ${STOPS} times at any moment`, async () => {
        const ids = Array.from({ length: STOPS }, (_, number) => `id-${number}`);
        // Some at a time, so that the receiver can follow.
        while (ids.length > 0) {
            const some = ids.splice(0, 20);
            await Promise.all(some.map((id, number) => announceFor(number * 2, id)));
            // A sleep to prove that nothing follows: five intervals.
            await pause(100);
            expectGoodbyes(some);
        }
    });

    function expectGoodbyes(ids) {
        for (const id of ids) {
            const words = wordsOf(id);
            expect(words.slice(-3)).toEqual(['down', 'down', 'down']);
            expect(words.slice(0, -3)).not.toContain('down');
            expect(words).toContain('up');
        }
    }
});
