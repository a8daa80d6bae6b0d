'use strict';

// Announces one broker until it is told to leave, or terminated.

const { parentPort, workerData } = require('node:worker_threads');

const { Announcer } = require('../../index.js');

const announcer = new Announcer({ host: '127.0.0.1', ...workerData });

parentPort.once('message', () => announcer.stop());
announcer.start().then(({ id }) => parentPort.postMessage(id));
