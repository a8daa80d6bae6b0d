/// <reference types="node" />

import type { EventEmitter } from 'node:events';
import type { ILogger, IMessageQueueConnection, IMQOptions } from '@imqueue/core';

/**
 * The abstract `ClusterManager` of the installed `@imqueue/core`, 2.x or 3.x.
 *
 * That class has a protected member, so that only what descends from it is assignable to
 * `clusterManagers`. Not every version exports it by name, hence the way through the options.
 */
type CoreClusterManager = NonNullable<IMQOptions['clusterManagers']>[number];
declare const CoreClusterManager: new () => CoreClusterManager;

/**
 * What a manager gives brokers to. `ClusteredRedisQueue` of `@imqueue/core` makes one for itself;
 * in tests any object with these functions will do.
 */
export type ICluster = Parameters<CoreClusterManager['init']>[0];

/** A cluster that is attached to a manager, known by its `id`. */
export type InitializedCluster = ReturnType<CoreClusterManager['init']>;

/** How a broker wants to be connected to, where its announcement says so. */
export type ClusterTransport = 'plain' | 'tls';

/**
 * Options of {@link RustUDPClusterManager}. Those of `UDPClusterManager` of `@imqueue/core` have
 * the same names, meanings and defaults.
 *
 * @remarks
 * An explicit `undefined` means the default. A value of the wrong type is a `TypeError`, one out of
 * range a `RangeError`, and both name the option and the value. An unknown option is ignored with a
 * warning, so that swapping the class never stops a service.
 */
export interface RustUDPClusterManagerOptions {
    /**
     * UDP port to listen on: an integer from 1 to 65535. It has to be the one that the brokers
     * announce to.
     *
     * @remarks
     * Sharing the port is fine, with other processes as with the manager of `@imqueue/core`. A
     * program that holds it exclusively is logged, and the port is tried again until it is free.
     *
     * @defaultValue 63000
     */
    port: number;

    /**
     * Which network to hear, as the broadcast address that brokers announce to there.
     *
     * @remarks
     * `255.255.255.255`, `0.0.0.0`, an empty string and whatever equals {@link limitedAddress} mean
     * every interface. A directed broadcast address such as `10.0.1.255` means only what arrives on
     * the interface with that network. Where there is no such interface nothing is heard: that is
     * logged, with the networks there are, and the interface is waited for.
     *
     * @defaultValue '255.255.255.255'
     */
    address: string;

    /**
     * An {@link address} equal to this one means every interface; it also stands in for an empty
     * one.
     *
     * @defaultValue '255.255.255.255'
     */
    limitedAddress?: string;

    /**
     * Grace in milliseconds that a broker gets after its announce interval: a number from 0 to
     * 2^31. It is removed when it was last heard that interval, this correction and one millisecond
     * ago.
     *
     * @remarks
     * Too small, and one lost datagram removes a healthy broker: keep it above two intervals. Too
     * large, and messages keep going to a broker that has crashed.
     *
     * @defaultValue 5000
     */
    aliveTimeoutCorrection: number;

    /**
     * Whether brokers that fall silent are removed. Without it, only those are that say `down`, and
     * a broker that crashed stays forever.
     *
     * @defaultValue true, or what the environment variable `IMQ_UDP_CLUSTER_MANAGER_ALIVE_CHECK`
     * said when the package was loaded: 1/true/yes/on or 0/false/no/off, in any case
     */
    useAliveCheck: boolean;

    /**
     * Accepted so that options of the original can be passed on, and without effect: there is
     * nothing to clean up, so no signal handler is installed, and the application's own runs once
     * and to its end.
     *
     * @defaultValue true
     */
    handleSignals: boolean;

    /**
     * Where warnings and errors are written to.
     *
     * @remarks
     * There is at most one line per cause and minute, with a count of what was held back.
     *
     * @defaultValue `console`
     */
    logger: ILogger;

    /**
     * Accepts only brokers that announce themselves under this name, or one of these. The others
     * are counted in `stats().ignored.name`.
     *
     * @remarks
     * It keeps two fleets on one network apart. A name that no broker uses leaves the cluster
     * empty.
     *
     * @defaultValue every name is accepted
     */
    name?: string | readonly string[];

    /**
     * How many endpoints are tracked at most: an integer from 1 to 1,000,000. Unknown ones beyond
     * that are ignored, counted in `stats().ignored.fleetFull` and warned about once.
     *
     * @remarks
     * It bounds the memory that somebody on the network can make the process use. Set it well above
     * the size of the fleet, and count in the addresses that restarted brokers have left behind.
     *
     * @defaultValue 1024
     */
    maxServers: number;

    /**
     * Whether announcements that came by unicast are passed on to the other processes of this host.
     *
     * @remarks
     * Linux gives a unicast datagram to only one of the processes that share a port, as those of a
     * Kubernetes pod may. Without the relay the others would drop brokers that are healthy.
     *
     * @defaultValue true
     */
    relay: boolean;
}

/**
 * The defaults of {@link RustUDPClusterManagerOptions}, as each constructor reads them.
 */
export declare const DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS: RustUDPClusterManagerOptions;

/**
 * A broker, as clusters are given it and as events tell of it. Each receiver gets an object of its
 * own.
 */
export interface ClusterServer {
    /** The GUID that the broker made at its start; a restart makes another. */
    id: string;

    /** The name that it announces itself under. */
    name: string;

    /** How it was last heard of: `down` only where it said so itself before it was removed. */
    type: 'up' | 'down';

    /** Host name or address to connect to; IPv6 without brackets. */
    host: string;

    /** TCP port to connect to. */
    port: number;

    /** Its announce interval in milliseconds. */
    timeout: number;

    /** How it wants to be connected to; absent where the announcement does not say. */
    transport?: ClusterTransport;
}

/** A broker as it is at this moment, from {@link RustUDPClusterManager.servers}. */
export interface ClusterServerInfo {
    /** The GUID that the broker made at its start; a restart makes another. */
    guid: string;

    /** The name that it announces itself under. */
    name: string;

    /** Host name or address to connect to; IPv6 without brackets. */
    host: string;

    /** TCP port to connect to. */
    port: number;

    /** How it wants to be connected to; `undefined` where the announcement does not say. */
    transport: ClusterTransport | undefined;

    /** When its last announcement came, in milliseconds since the epoch. */
    lastSeen: number;

    /** Where that one came from, as `address:port`; with the relay, the process it came through. */
    source: string;
}

/**
 * Counters of a manager. They only grow while it listens.
 *
 * @remarks
 * Managers on the same port share a socket, and those with equal options share everything but
 * {@link wakeups}; a manager that joins others finds their counts there.
 */
export interface ClusterStats {
    /** Datagrams that arrived on the port. 0 where brokers announce: nothing gets through to it. */
    datagrams: number;

    /** Times that receiving failed. */
    receiveErrors: number;

    /** Datagrams that the system dropped because they came faster than they could be read. */
    kernelDrops: number;

    /** Unicast datagrams that were passed on to the other processes of this host, failures included. */
    relayed: number;

    /** Times that passing one on failed. */
    relayErrors: number;

    /** Datagrams that this process had passed on itself, and that came back to it. */
    relayEchoes: number;

    /** Readable `up` announcements, ignored ones included. */
    ups: number;

    /** Readable `down` announcements, ignored ones included. */
    downs: number;

    /** Datagrams that could not be read, by the field that was wrong. */
    rejected: {
        /** `host:port` is malformed, or an address that nothing can connect to. */
        address: number;
        /** There are fewer than four fields, as in what other programs send. */
        fields: number;
        /** The GUID is empty, too long or has control characters. */
        id: number;
        /** The announce interval is no number of seconds. */
        interval: number;
        /** The type is neither `up` nor `down`. */
        kind: number;
        /** The name is empty, too long or has control characters. */
        name: number;
    };

    /** Readable announcements that changed nothing, by the reason. */
    ignored: {
        /** A `down` for an address that is not known, such as the repetitions of a goodbye. */
        endpointUnknown: number;
        /** An unknown broker, while there were `maxServers` already. */
        fleetFull: number;
        /**
         * From a broker that another one has replaced at its address. It gets the address back if
         * it goes on announcing itself and the other one falls silent.
         */
        formerOwner: number;
        /** An `up` within a second after the same broker's `down`. */
        lateUp: number;
        /** Under a name that the `name` option does not accept. */
        name: number;
        /** A `down` from somebody else than the broker at that address. */
        notOwner: number;
    };

    /** Brokers that joined. */
    added: number;

    /** Brokers that left, for either reason. */
    removed: number;

    /** Brokers that were replaced at their address: they restarted with another id. */
    updated: number;

    /** Those of {@link removed} that fell silent. */
    evicted: number;

    /**
     * How often this JavaScript thread was woken to be told of changes, for all managers and
     * announcers together. Heartbeats of known brokers wake nobody.
     */
    wakeups: number;
}

/** Events of {@link RustUDPClusterManager}, with their arguments. */
export interface RustUDPClusterManagerEvents {
    /** A broker joined. The clusters have been given it. */
    add: [server: ClusterServer];

    /** A broker left, or fell silent. The clusters have been told to remove it. */
    remove: [server: ClusterServer];

    /**
     * A broker restarted at its address: the server with its new id, and the id before. The
     * clusters keep it under the id that they were given. Where the broker had not restarted but
     * somebody else claimed its address and fell silent, a second such event says that it has the
     * address back.
     */
    update: [server: ClusterServer, previousId: string];

    /** The socket is bound: for the first time, or again after a failure. */
    listening: [address: { address: string; port: number }];

    /** It no longer listens: `destroy` was called, or the last cluster was removed. */
    close: [];
}

/**
 * Finds the brokers of an @imqueue fleet by their UDP announcements and keeps clusters up to date
 * with them. A drop-in for `UDPClusterManager` of `@imqueue/core`, 2.x and 3.x, without its worker
 * thread: heartbeats are handled by native code and never reach JavaScript.
 *
 * @remarks
 * It listens from its constructor on, and keeps the process up until {@link destroy}, the
 * {@link remove} of the last cluster, or {@link unref}. All managers of a process share one native
 * thread, and one socket per port; on Linux there is one more for each address of the host while
 * other processes listen on that port.
 *
 * What happens in a cluster or in a listener stays there: a callback of a cluster that throws or
 * rejects is logged, and the broker is offered to that cluster again within five seconds, as is one
 * that the cluster lost meanwhile. An event listener that throws surfaces as an uncaught exception,
 * but only after all clusters and managers have been told what is new.
 *
 * Queues that a cluster returns from `add` are guarded: an `error` event that nobody listens for is
 * logged instead of thrown. With core 2.x, each broker that leaves would end the service otherwise.
 *
 * @example
 * ```ts
 * import IMQ from '@imqueue/core';
 * import { RustUDPClusterManager } from 'imqueue-udp-cluster';
 *
 * const queue = IMQ.create('my-service', {
 *     clusterManagers: [new RustUDPClusterManager()],
 * });
 * ```
 */
export declare class RustUDPClusterManager extends CoreClusterManager {
    /**
     * Starts to listen.
     *
     * @param options - what differs from {@link DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS}
     * @throws `TypeError` or `RangeError` for an option of the wrong type or out of range
     * @throws `Error` with `code` `ERR_NATIVE_BINDING` where there is no binary for the platform;
     * the message says what to do
     *
     * @remarks
     * A port that cannot be bound is no error: it is logged and tried again. The event `listening`
     * tells when it is.
     */
    constructor(options?: Partial<RustUDPClusterManagerOptions>);

    /**
     * The brokers that are up now, in no particular order; none after {@link destroy}.
     *
     * @remarks
     * Made anew at each reading. They are the brokers that events have told of, with their last
     * heartbeats.
     */
    readonly servers: ClusterServerInfo[];

    /** Whether the socket is bound at this moment. */
    readonly listening: boolean;

    /**
     * Attaches a cluster, which is given the brokers that are known a microtask later, and then
     * every change.
     *
     * @param cluster - `add` and `remove` are needed; with a `find`, nothing is added twice, and
     * what got lost is noticed
     * @returns the same object, with an `id` that {@link remove} takes
     * @throws `TypeError` naming the functions that are missing
     *
     * @remarks
     * A manager that was destroyed, or whose last cluster was removed, listens again.
     *
     * A cluster is given one broker of an id at a time. A Redis whose former queue is still being
     * destroyed is given once that is done, after some 2 s at the latest.
     */
    init(cluster: ICluster): InitializedCluster;

    /**
     * Detaches a cluster. Nothing is taken away from it: it keeps the brokers it has.
     *
     * @param cluster - what {@link init} returned, or its `id`; anything else detaches nothing
     * @param destroy - whether to {@link destroy} the manager if it has no clusters now; `true` by
     * default
     */
    remove(cluster: string | InitializedCluster, destroy?: boolean): Promise<void>;

    /**
     * Calls back for every attached cluster, whether it fails for others or not. Failures are
     * logged; the promise resolves when all are done.
     */
    forEachCluster(fn: (cluster: InitializedCluster) => Promise<void> | void): Promise<void>;

    /**
     * Calls back for every attached cluster. The promise rejects with the first failure.
     *
     * @remarks
     * As in core 2.x; {@link forEachCluster} is what core 3.x has instead.
     */
    anyCluster(fn: (cluster: InitializedCluster) => Promise<void> | void): Promise<void>;

    /**
     * Stops listening and detaches every cluster. It can be called any number of times, also while
     * another call is on its way, and {@link init} starts the manager again.
     *
     * @returns a promise that resolves after the event `close`; from then on no callback runs
     */
    destroy(): Promise<void>;

    /**
     * Reads the counters.
     *
     * @returns a snapshot; after {@link destroy}, the values as they were at its call
     */
    stats(): ClusterStats;

    /** Makes the manager keep the process up while it listens, as it does by default. */
    ref(): this;

    /** Lets the process end although the manager listens. */
    unref(): this;
}

export interface RustUDPClusterManager extends EventEmitter<RustUDPClusterManagerEvents> {}

export { RustUDPClusterManager as UDPClusterManager };
export type { RustUDPClusterManagerOptions as UDPClusterManagerOptions };

/** Options of {@link Announcer}. An explicit `undefined` means the default. */
export interface AnnouncerOptions {
    /** Host name or address of the broker, as services can connect to it; IPv6 without brackets. */
    host: string;

    /** TCP port of the broker: an integer from 1 to 65535. */
    port: number;

    /**
     * The name to announce it under, which listeners may filter by.
     *
     * @defaultValue 'imq-broker'
     */
    name?: string;

    /**
     * The GUID to announce it under.
     *
     * @remarks
     * Listeners take two announcers with one id for one broker with two addresses, of which they
     * use one.
     *
     * @defaultValue a random one
     */
    id?: string;

    /**
     * Seconds between two announcements, from 0.01 to 86400. Listeners drop the broker when they
     * have heard nothing for this long and their correction.
     *
     * @defaultValue 1
     */
    interval?: number;

    /**
     * How the broker wants to be connected to; announced only if given, since older listeners do
     * not know the field.
     *
     * @defaultValue not announced
     */
    transport?: ClusterTransport;

    /**
     * Where to announce to, each as `host` or `host:port` with IPv6 in brackets, the port being
     * 63000 unless given. Names are looked up again and again.
     *
     * @defaultValue the broadcast address of every interface
     */
    destinations?: readonly string[];

    /**
     * Where failures to send are written to: at most one line a minute.
     *
     * @defaultValue `console`
     */
    logger?: ILogger;
}

/**
 * Announces one address, as a broker does. It is for tests of services and for set-ups without the
 * Redis module.
 *
 * @remarks
 * Once started, it keeps the process up until {@link stop} or {@link unref}.
 *
 * @example Two brokers for a test that leaves the network alone
 * ```ts
 * const announcers = [6379, 6380].map(port => new Announcer({
 *     host: '127.0.0.1',
 *     port,
 *     destinations: ['127.255.255.255'],
 * }));
 * await Promise.all(announcers.map(announcer => announcer.start()));
 * ```
 */
export declare class Announcer {
    /**
     * Announces nothing yet.
     *
     * @throws `TypeError` or `RangeError` for an option of the wrong type or out of range
     */
    constructor(options: AnnouncerOptions);

    /** What is announced. */
    readonly host: string;

    /** What is announced. */
    readonly port: number;

    /** What it is announced under. */
    readonly name: string;

    /** What it is announced under; the same one after a restart. */
    readonly id: string;

    /**
     * Announces now, and then once an interval. Does nothing more where it is started already.
     *
     * @returns a promise of this announcer that resolves when the first announcement has been
     * sent, or could not be: that is logged, and tried again after the interval. It rejects with a
     * `RangeError` for an address that no listener would accept, such as 0.0.0.0, and with an
     * `Error` with `code` `ERR_NATIVE_BINDING` where there is no binary for the platform
     */
    start(): Promise<this>;

    /**
     * Ends the announcements and says `down`, three times, since one that gets lost would leave the
     * broker in the fleet until its deadline. Does nothing where it is not started.
     *
     * @returns a promise that resolves when the `down` is sent; no announcement follows it
     *
     * @remarks
     * Listeners do not take the same id back within a second after its `down`.
     */
    stop(): Promise<void>;

    /** Makes the announcer keep the process up while it announces, as it does by default. */
    ref(): this;

    /**
     * Lets the process end although it announces. Listeners then drop the broker in their time.
     * While `start` or `stop` is awaited the process stays up nevertheless.
     */
    unref(): this;
}

/**
 * Options for a queue, by the environment: found brokers, or a fixed list of them.
 *
 * @param env - where `DISABLE_CLUSTER_MANAGER` and `REDIS_CLUSTER` are read from; `process.env` by
 * default
 * @param options - of the manager, if there is one
 * @returns `{ clusterManagers }` with a new manager, which listens already: call this once and
 * share the result. Where `DISABLE_CLUSTER_MANAGER` is on (1/true/yes/on, in any case), it is
 * `{ cluster }` from `REDIS_CLUSTER`: `host:port` entries separated by commas, IPv6 in brackets, by
 * default `localhost:6379`
 * @throws `Error` with `code` `ERR_REDIS_CLUSTER` that names the entry which is malformed
 *
 * @example
 * ```ts
 * const queue = IMQ.create('my-service', clusterOptions());
 * ```
 */
export declare function clusterOptions(
    env?: Record<string, string | undefined>,
    options?: Partial<RustUDPClusterManagerOptions>,
): { cluster: IMessageQueueConnection[] } | { clusterManagers: RustUDPClusterManager[] };
