'use strict';

// What listeners and announcers in processes of their own have said.

const says = wanted => ({ event }) => event === wanted;

const isAdd = says('add');
const isAnnounced = says('announced');
const isRemove = says('remove');

/** How often a listener told of a broker that came or went. */
function outcome({ lines }) {
    return { adds: lines.filter(isAdd).length, removes: lines.filter(isRemove).length };
}

/** The ids of the brokers that a listener knows. */
async function fleetOf(program) {
    const { servers } = await program.ask('servers');
    return servers.map(({ guid, id }) => guid ?? id).sort();
}

/** Resolves once a listener's counter of that name has come to `count`. */
async function counted(program, name, count) {
    while ((await program.ask('servers')).stats[name] < count) {
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}

/** Resolves once each listener has heard something several times more. */
async function stillHear(programs) {
    await Promise.all(programs.map(async program => {
        const { stats } = await program.ask('servers');
        await counted(program, 'ups', stats.ups + 5);
    }));
}

/** Waits, for as long as nothing is to happen. */
function nothingFor(ms) {
    return new Promise(resolve => setTimeout(resolve, ms));
}

module.exports = {
    counted,
    fleetOf,
    isAdd,
    isAnnounced,
    isRemove,
    nothingFor,
    outcome,
    stillHear,
};
