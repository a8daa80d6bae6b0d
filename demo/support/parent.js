'use strict';

// The child's end of a `Peer`.

/** What the parent gave this process to start with. */
const settings = JSON.parse(process.argv[2]);

/**
 * Answers the parent, and ends this process with it, unless it was told to retire.
 *
 * @param {Record<string, (argument: any) => unknown>} commands
 */
function serve(commands) {
    const retire = () => { process.removeAllListeners('disconnect'); };

    commands = { ...commands, retire };
    process.on('message', async ({ id, command, argument }) => {
        try {
            tell({ id, result: await commands[command](argument) });
        } catch (error) {
            tell({ id, error: error.stack });
        }
    });
    process.on('disconnect', () => process.exit(1));
}

/** Tells the parent that something happened. */
function report(event, details) {
    tell({ report: { event, ...details } });
}

function tell(message) {
    if (process.connected) {
        process.send(message);
    }
}

module.exports = { report, serve, settings };
