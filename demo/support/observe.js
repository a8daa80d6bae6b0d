'use strict';

const { now } = require('./clock');

/**
 * Notes when a manager tells a cluster of a broker. Call it before the manager is used.
 *
 * @param {object} manager
 * @param {(change: 'add' | 'remove' | 'update', details: object) => void} report
 */
function observeManager(manager, report) {
    const { init } = manager;

    manager.init = function (cluster) {
        for (const change of ['add', 'remove']) {
            const method = cluster[change];

            cluster[change] = function (server) {
                report(change, { broker: addressOf(server), at: now() });
                return method.call(this, server);
            };
        }
        return init.call(this, cluster);
    };
    manager.on('update', (server, previousId) => {
        report('update', { broker: addressOf(server), at: now(), id: server.id, previousId });
    });
}

/**
 * Notes when a clustered queue of @imqueue/core is connected to a broker, and by which of them each
 * message is sent. Call it before the first broker can join.
 *
 * @param {object} queue - the `ClusteredRedisQueue`
 * @param {object} observer
 * @param {(change: 'ready', details: object) => void} observer.report
 * @param {(broker: string, message: object) => void} observer.sending
 */
function observeQueue(queue, { report, sending }) {
    queue.clusterEmitter.on('add', ({ imq }) => {
        const { send } = imq;

        imq.send = function (toQueue, message, ...rest) {
            sending(imq.redisKey, message);
            return send.call(imq, toQueue, message, ...rest);
        };
    });
    queue.clusterEmitter.on('initialized', ({ imq }) => {
        report('ready', { broker: imq.redisKey, at: now() });
    });
}

function addressOf({ host, port }) {
    return `${host}:${port}`;
}

module.exports = { observeManager, observeQueue };
