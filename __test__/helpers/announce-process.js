'use strict';

// An announcer in a process of its own: prints when it has begun, and says `down` and ends when its
// standard input does.

const { Announcer } = require('../../index.js');

const silent = { log() {}, info() {}, warn() {}, error() {} };
const announcer = new Announcer({ logger: silent, ...JSON.parse(process.argv[2]) });

announcer.start().then(() => process.stdout.write('{"event":"announced"}\n'));
process.stdin.resume().once('end', () => announcer.stop());
