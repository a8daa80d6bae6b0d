'use strict';

/** A broker as it was when native code told about it. Nobody changes it: a restart makes a new one. */
class Server {
    constructor(id, name, host, port, timeout, transport) {
        this.id = id;
        this.name = name;
        this.host = host;
        this.port = port;
        this.timeout = timeout;
        this.transport = transport;
        /** Identifies the broker through restarts, which change its id. */
        this.endpoint = `${host}:${port}`;
    }

    /**
     * What clusters and listeners of events are given: fresh each time, since they may keep and
     * change it.
     *
     * @param {'up' | 'down'} type - how the broker was last heard of
     */
    toRecord(type) {
        const { id, name, host, port, timeout, transport } = this;
        const record = { id, name, type, host, port, timeout };

        return transport === undefined ? record : { ...record, transport };
    }
}

exports.Server = Server;
