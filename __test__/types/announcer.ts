// Compiled, never run: what services write must type-check, and what is wrong must not.

import IMQ from '@imqueue/core';
import {
    Announcer,
    clusterOptions,
    type AnnouncerOptions,
    type ClusterTransport,
} from 'imqueue-udp-cluster';

const options: AnnouncerOptions = {
    host: '10.0.0.1',
    port: 6379,
    destinations: ['127.255.255.255', '[::1]:63001'] as const,
    interval: 0.5,
    transport: 'tls',
};

async function announce(): Promise<string> {
    const announcer: Announcer = await new Announcer(options).unref().start();
    await announcer.ref().stop();
    return `${announcer.name} ${announcer.id} ${announcer.host}:${announcer.port.toFixed()}`;
}
export { announce };

// @ts-expect-error an address has a port
new Announcer({ host: '10.0.0.1' });
// @ts-expect-error there is nothing to announce
new Announcer();
// @ts-expect-error there is no such transport
new Announcer({ ...options, transport: 'quic' });
// @ts-expect-error a transport is a string of its own type
const transport: ClusterTransport = 'TLS';
export { transport };

IMQ.create('service', clusterOptions());
IMQ.create('service', { ...clusterOptions(process.env), prefix: 'imq' });
IMQ.create('service', clusterOptions({ DISABLE_CLUSTER_MANAGER: '1', REDIS_CLUSTER: 'a:1' }));
// @ts-expect-error an environment has strings
clusterOptions({ DISABLE_CLUSTER_MANAGER: 1 });
