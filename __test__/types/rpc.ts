// Compiled, never run: @imqueue/rpc passes the options of its services and clients on to core.

import type { IMQClientOptions, IMQServiceOptions } from '@imqueue/rpc';
import { RustUDPClusterManager, clusterOptions } from 'imqueue-udp-cluster';

const service: Partial<IMQServiceOptions> = {
    clusterManagers: [new RustUDPClusterManager()],
    multiProcess: true,
};
const client: Partial<IMQClientOptions> = { ...clusterOptions(), timeout: 100 };

export { client, service };
