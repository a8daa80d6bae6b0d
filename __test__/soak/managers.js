'use strict';

const { now } = require('../../demo/support/clock.js');
const { report } = require('../../demo/support/parent.js');

/** Reports each event of a manager to the soak, under the name that it knows the manager by. */
function follow(name, manager) {
    for (const event of ['add', 'remove', 'update']) {
        manager.on(event, ({ host, port, id, type }) => {
            report(event, { name, endpoint: `${host}:${port}`, id, type, at: now() });
        });
    }
}

/** What a manager says there is, and when it did. */
function look(name, manager) {
    const servers = manager.servers.map(({ host, port, guid }) => [`${host}:${port}`, guid]);
    return { name, at: now(), servers };
}

module.exports = { follow, look };
