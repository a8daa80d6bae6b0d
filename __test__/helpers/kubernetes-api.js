'use strict';

const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:https');
const { once } = require('node:events');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { createInterface } = require('node:readline');

const { makeCertificates } = require('./kubernetes/authority.js');
const { Expired, PodStore } = require('./kubernetes/pod-store.js');
const { Watch } = require('./kubernetes/watch.js');
const { monotonicNow } = require('./program.js');

const FILES = '/run/secrets/kubernetes.io/serviceaccount';

const PODS = /^\/api\/v1\/namespaces\/([^/]+)\/pods$/;

const NONSENSE = {
    'empty': ['application/json', ''],
    'html': ['text/html', '<html><body>Please log in to the hotel network</body></html>\n'],
    'json': ['application/json', '{"kind": "PodList", "metadata": {\n'],
    'kind': ['application/json', '{"kind":"ServiceList","metadata":{"resourceVersion":"7"},'
        + '"items":[]}\n'],
};

/**
 * An API server of Kubernetes, as far as pods go, that does on request all that a real one does
 * at bad times. It listens on 127.0.0.1, and keeps files as a pod has them of its service account.
 *
 * It also is a program, with the options as its only argument: it prints `listening` with `url`,
 * `files` and `env` as a JSON line, and takes lines like `["setPod", "web-1", { "ip": "10.1.2.3" }]`.
 */
class KubernetesApi {
    #account;
    #addresses;
    #faults = { list: undefined, watch: undefined };
    #namespace;
    #port;
    #server;
    #sockets = new Set();
    #store;
    #token;
    #tokens = 0;
    #watches = new Set();

    /** A directory with `ca.crt`, `token` and `namespace`. */
    files = mkdtempSync(join(tmpdir(), 'imqueue-service-account-'));

    /** All requests: `{ at, verb, query, code }`, the code being undefined while none was answered. */
    requests = [];

    /**
     * @param {object} [options]
     * @param {string} [options.namespace] - where the pods are, and the service account
     * @param {string} [options.serviceAccount] - its name
     * @param {string} [options.host] - the address to listen on
     * @param {number} [options.port] - 0: any
     * @returns {Promise<KubernetesApi>}
     */
    static async start(options) {
        const api = new KubernetesApi(options);
        await api.comeBack();
        return api;
    }

    constructor({
        namespace = 'prod', serviceAccount = 'redis', host = '127.0.0.1', port = 0,
    } = {}) {
        this.#account = `system:serviceaccount:${namespace}:${serviceAccount}`;
        this.#addresses = [host];
        this.#namespace = namespace;
        this.#port = port;
        this.#store = new PodStore(namespace);
        this.#server = createServer((request, response) => this.#answer(request, response));
        this.#server.on('connection', socket => {
            this.#sockets.add(socket);
            socket.once('close', () => this.#sockets.delete(socket));
        });
        writeFileSync(join(this.files, 'namespace'), namespace);
        this.rotateToken();
        this.rotateAuthority();
    }

    get url() {
        return `https://${this.#addresses[0]}:${this.#port}`;
    }

    /** Where the pods are. */
    get namespace() {
        return this.#namespace;
    }

    /** By which a pod finds the API. */
    get env() {
        return {
            KUBERNETES_SERVICE_HOST: this.#addresses[0],
            KUBERNETES_SERVICE_PORT: String(this.#port),
        };
    }

    /**
     * The command line that runs a program as in a pod: it finds the service account where every
     * pod has it. Needs root on Linux. Set {@link env} in its environment too.
     */
    inPod(line) {
        const script = `mount -t tmpfs none /run && mkdir -p ${FILES}`
            + ` && mount --bind "$0" ${FILES} && exec "$@"`;
        return ['unshare', '-m', 'sh', '-c', script, this.files, ...line];
    }

    /** Adds or changes a pod: see `PodStore.set`. */
    setPod(name, what) {
        this.#store.set(name, what);
    }

    removePod(name) {
        this.#store.remove(name);
    }

    /** How often it was asked to `list` or to `watch`. */
    count(verb) {
        return this.requests.filter(request => request.verb === verb).length;
    }

    /** The watches that are open. */
    get watching() {
        return this.#watches.size;
    }

    /**
     * Answers `list`, `watch` or `all` with an error from now on.
     *
     * @param {string} verb
     * @param {object} error
     * @param {number} error.code
     * @param {string} [error.message]
     * @param {number} [error.retryAfter] - seconds, for the header
     * @param {number} [error.times] - for so many requests; by default until it is restored
     */
    fail(verb, { code, message = 'on request', reason = 'Unknown', retryAfter, times = Infinity }) {
        this.#break(verb, times, response => {
            if (retryAfter !== undefined) {
                response.setHeader('Retry-After', retryAfter);
            }
            refuse(response, code, reason, message);
        });
    }

    /** Answers as without the permission. */
    forbid(verb, times) {
        const user = this.#account;
        const denied = one => `pods is forbidden: User "${user}" cannot ${one} resource "pods"`
            + ` in API group "" in the namespace "${this.#namespace}"`;
        this.#break(verb, times, (response, one) => {
            refuse(response, 403, 'Forbidden', denied(one));
        });
    }

    /** Answers 429, as the API server does when too many ask: without a JSON body. */
    throttle(verb, retryAfter, times) {
        this.#break(verb, times, response => {
            response.writeHead(429, { 'Retry-After': retryAfter, 'Content-Type': 'text/plain' });
            response.end('Too many requests, please try again later.\n');
        });
    }

    /** Answers with something else: `empty`, `html`, `json` that is cut short, another `kind`. */
    nonsense(verb, what, times) {
        const [type, body] = NONSENSE[what];
        this.#break(verb, times, response => {
            response.writeHead(200, { 'Content-Type': type });
            response.end(body);
        });
    }

    /** Takes requests, and does not answer. */
    hang(verb, times) {
        this.#break(verb, times, () => {});
    }

    /** Begins an answer, and breaks the connection off. */
    breakOff(verb, times) {
        this.#break(verb, times, response => {
            response.writeHead(200, { 'Content-Type': 'application/json' });
            response.write('{"kind":"PodList","apiVersion":"v1",', () => {
                response.socket.destroy();
            });
        });
    }

    /** Answers all requests again. */
    restore() {
        this.#faults = { list: undefined, watch: undefined };
    }

    /** Forgets the history. With `tell`, open watches are told so, and end. */
    compact({ tell = false } = {}) {
        this.#store.compact();
        if (tell) {
            this.#watches.forEach(watch => watch.expire('too old resource version'));
        }
    }

    /** Tells open watches the version that they have seen all until. */
    bookmark() {
        this.#watches.forEach(watch => watch.bookmark());
    }

    /** Breaks the connections of open watches. */
    cut() {
        this.#watches.forEach(watch => watch.cut());
    }

    /** Open watches tell nothing any more, and do not end. */
    mute() {
        this.#watches.forEach(watch => watch.mute());
    }

    /** Writes something that is no event to open watches. */
    babble(text = '<html>') {
        this.#watches.forEach(watch => watch.write(`${text}\n`));
    }

    /**
     * Accepts only another token from now on.
     *
     * @param {object} [how]
     * @param {boolean} [how.tell] - whether it is written to `files`, as the kubelet does
     */
    rotateToken({ tell = true } = {}) {
        this.#tokens += 1;
        const payload = { sub: this.#account, jti: this.#tokens };
        this.#token = [{ alg: 'RS256' }, payload, 'signature']
            .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
            .join('.');
        if (tell) {
            this.tellToken();
        }
    }

    tellToken() {
        writeFileSync(join(this.files, 'token'), this.#token);
    }

    /** Has another certificate from now on, of another authority; connections are broken. */
    rotateAuthority({ tell = true } = {}) {
        const { authority, key, cert } = makeCertificates(this.#addresses);
        this.#server.setSecureContext({ key, cert });
        this.authority = authority;
        if (tell) {
            this.tellAuthority();
        }
        this.#disconnect();
    }

    tellAuthority() {
        writeFileSync(join(this.files, 'ca.crt'), this.authority);
    }

    /** Ends: connections are broken, and further ones refused. */
    async goAway() {
        const closed = once(this.#server, 'close');
        this.#server.close();
        this.#disconnect();
        await closed;
    }

    /** Listens again, on the same port. */
    async comeBack() {
        this.#server.listen(this.#port, this.#addresses[0]);
        await once(this.#server, 'listening');
        this.#port = this.#server.address().port;
    }

    async close() {
        if (this.#server.listening) {
            await this.goAway();
        }
        rmSync(this.files, { recursive: true });
    }

    #disconnect() {
        this.#sockets.forEach(socket => socket.destroy());
    }

    #break(verb, times = Infinity, answer) {
        const verbs = verb === 'all' ? ['list', 'watch'] : [verb];
        verbs.forEach(one => { this.#faults[one] = { answer, left: times }; });
    }

    #answer(request, response) {
        const { pathname, searchParams } = new URL(request.url, this.url);
        const query = Object.fromEntries(searchParams);
        const verb = query.watch === undefined ? 'list' : 'watch';
        const entry = { at: monotonicNow(), verb, query, code: undefined };
        this.requests.push(entry);
        response.once('finish', () => { entry.code = response.statusCode; });

        const fault = this.#faults[verb];
        if (request.headers.authorization !== `Bearer ${this.#token}`) {
            refuse(response, 401, 'Unauthorized', 'Unauthorized');
        } else if (fault && fault.left > 0) {
            fault.left -= 1;
            fault.answer(response, verb);
        } else if (PODS.test(pathname)) {
            this.#serve(verb, query, PODS.exec(pathname)[1], response);
        } else {
            refuse(response, 404, 'NotFound', 'the server could not find the requested resource');
        }
    }

    #serve(verb, query, namespace, response) {
        const store = namespace === this.#namespace ? this.#store : new PodStore(namespace);
        try {
            if (verb === 'watch') {
                this.#watch(store, query, response);
            } else {
                list(store, query, response);
            }
        } catch (error) {
            const expired = error instanceof Expired;
            const [code, reason] = expired ? [410, 'Expired'] : [400, 'BadRequest'];
            refuse(response, code, reason, error.message);
        }
    }

    #watch(store, query, response) {
        const watch = new Watch(store, query, response);
        this.#watches.add(watch);
        response.once('close', () => this.#watches.delete(watch));
    }
}

function list(store, { limit, ...query }, response) {
    if (query.continue && query.resourceVersion) {
        throw new Error('specifying resource version is not allowed when using continue');
    }
    const page = store.list({ ...query, limit: limit && Number(limit) });
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(page));
}

function refuse(response, code, reason, message) {
    const status = {
        kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code,
    };
    response.writeHead(code, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(status));
}

async function main() {
    const api = await KubernetesApi.start(JSON.parse(process.argv[2] ?? '{}'));
    const print = line => process.stdout.write(`${JSON.stringify(line)}\n`);
    print({ event: 'listening', url: api.url, files: api.files, env: api.env });

    for await (const line of createInterface({ input: process.stdin })) {
        const [method, ...args] = JSON.parse(line);
        const member = api[method];
        const value = typeof member === 'function' ? await member.apply(api, args) : member;
        print({ event: 'answer', value });
    }
    await api.close();
}

if (require.main === module) {
    main();
}

module.exports = { KubernetesApi };
