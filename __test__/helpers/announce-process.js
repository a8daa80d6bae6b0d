'use strict';

// Announcers in a process of their own: prints when they have begun, and says `down` and ends when
// its standard input does.
//
// Options are those of an announcer and, for several, how many `brokers`: their ids and ports count
// on from the given ones.

const { Announcer } = require('../../index.js');
const { answerQuestions, print } = require('./talk.js');

const silent = { log() {}, info() {}, warn() {}, error() {} };
const { brokers = 0, id, port, ...options } = JSON.parse(process.argv[2]);
const announcers = brokers === 0
    ? [new Announcer({ logger: silent, id, port, ...options })]
    : Array.from({ length: brokers }, (_, number) => new Announcer({
        logger: silent,
        id: `${id}-${number}`,
        port: port + number,
        ...options,
    }));
const all = method => Promise.all(announcers.map(announcer => announcer[method]()));

all('start').then(() => print('announced'));
answerQuestions({}).then(() => all('stop'));
