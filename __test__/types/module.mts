// Compiled, never run: as an ES module under nodenext.

import { RustUDPClusterManager, clusterOptions } from 'imqueue-udp-cluster';
import udp from 'imqueue-udp-cluster';
import type { IMQOptions } from '@imqueue/core';

const named: NonNullable<IMQOptions['clusterManagers']> = [new RustUDPClusterManager()];
const viaDefault: NonNullable<IMQOptions['clusterManagers']> = [new udp.UDPClusterManager()];
const options: Partial<IMQOptions> = clusterOptions();

export { named, options, viaDefault };
