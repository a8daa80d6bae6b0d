'use strict';

const { readFileSync } = require('node:fs');

/**
 * Runs a loader that may ask for a diagnostic report to find out which C library there is, and
 * gives it one with nothing else in it.
 *
 * Where there is no `ldd`, as in distroless images, the loader that the napi CLI generates asks for
 * one. A full report looks up the name of every peer that the process has a connection to, which
 * blocks for minutes where DNS does not answer. The loader excludes that, for good and for the
 * application too; early releases of Node.js 20 and 22 look the names up nevertheless.
 *
 * @template T
 * @param {() => T} load
 * @returns {T} what `load` returned
 */
function withLeanReport(load) {
    const { report } = process;
    if (!report) {
        return load();
    }
    const { excludeNetwork, getReport } = report;

    report.getReport = () => ({ header: {}, sharedObjects: mappedFiles() });
    try {
        return load();
    } finally {
        report.getReport = getReport;
        report.excludeNetwork = excludeNetwork;
    }
}

/** Lines that name the files which are mapped into this process, its libraries among them. */
function mappedFiles() {
    try {
        return readFileSync('/proc/self/maps', 'utf8').split('\n');
    } catch {
        return [];
    }
}

exports.withLeanReport = withLeanReport;
