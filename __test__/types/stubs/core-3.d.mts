// The part of @imqueue/core 3.x that our types meet, where it differs from 2.x: written after its
// documentation, since only 2.x is among our dependencies.

export interface ILogger {
    log(...args: unknown[]): void;
    info(...args: unknown[]): void;
    warn(...args: unknown[]): void;
    error(...args: unknown[]): void;
}

export interface IServerInput {
    id?: string;
    host: string;
    port: number;
}

export interface IMessageQueueConnection extends IServerInput {
    username?: string;
    password?: string;
}

export interface ICluster {
    add: <T extends IMessageQueueConnection>(server: IServerInput) => T;
    remove: (server: IServerInput) => void;
    find: <T extends IMessageQueueConnection>(server: IServerInput) => T | undefined;
}

export interface InitializedCluster extends ICluster {
    id: string;
}

export declare abstract class ClusterManager {
    protected clusters: InitializedCluster[];
    protected constructor();
    init(cluster: ICluster): InitializedCluster;
    forEachCluster(fn: (cluster: InitializedCluster) => Promise<void> | void): Promise<void>;
    remove(cluster: string | InitializedCluster, destroy?: boolean): Promise<void>;
    abstract destroy(): Promise<void>;
}

export interface IMQOptions extends Partial<IMessageQueueConnection> {
    cluster?: IMessageQueueConnection[];
    clusterManagers?: ClusterManager[];
    logger?: ILogger;
    prefix?: string;
}

export declare class ClusteredRedisQueue {
    constructor(name: string, options?: Partial<IMQOptions>);
}

export default class IMQ {
    static create(name: string, options?: Partial<IMQOptions>): ClusteredRedisQueue;
}
