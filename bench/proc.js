'use strict';

// What Linux tells about this process and its sockets.

const { readFileSync, readdirSync, readlinkSync, writeFileSync } = require('node:fs');

const MS = 1000;
const KB = 1024;

/** CPU time of the whole process so far, in ms. */
function cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / MS;
}

/** Memory in use, in KB. */
function rssKb() {
    return process.memoryUsage.rss() / KB;
}

/** Forgets the most memory that was ever in use, so that `peakRssKb` begins anew. */
function resetPeak() {
    writeFileSync('/proc/self/clear_refs', '5');
}

function peakRssKb() {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
}

function threads() {
    return readdirSync('/proc/self/task').length;
}

/** How often any thread of the process has gone to sleep. */
function voluntarySwitches() {
    return readdirSync('/proc/self/task')
        .map(task => readFileSync(`/proc/self/task/${task}/status`, 'utf8'))
        .map(status => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)[1]))
        .reduce((sum, switches) => sum + switches, 0);
}

/** How many UDP sockets the process has. */
function udpSockets() {
    const inodes = new Set(udpTable().map(({ inode }) => `socket:[${inode}]`));
    const targets = readdirSync('/proc/self/fd').map(fd => {
        try {
            return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
            // It was the one that reads the folder.
            return undefined;
        }
    });
    return targets.filter(target => inodes.has(target)).length;
}

/** How many datagrams the kernel has dropped because the sockets on a port were full. */
function drops(port) {
    return udpTable()
        .filter(socket => socket.port === port)
        .reduce((sum, socket) => sum + socket.drops, 0);
}

function udpTable() {
    const [, ...lines] = readFileSync('/proc/net/udp', 'utf8').trim().split('\n');

    return lines.map(line => {
        const fields = line.trim().split(/\s+/);
        return {
            port: parseInt(fields[1].split(':')[1], 16),
            inode: fields[9],
            drops: Number(fields[12]),
        };
    });
}

module.exports = {
    cpuMs, drops, peakRssKb, resetPeak, rssKb, threads, udpSockets, voluntarySwitches,
};
