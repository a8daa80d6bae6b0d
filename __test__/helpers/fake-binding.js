'use strict';

/**
 * A native binding without anything native in it: tests say what it hears, and see what it was
 * called with.
 *
 * News is queued by `hears`, `adds` and `notices`, and delivered by `wake()`, which stands for the
 * wake-up by the hub thread.
 */
function createFakeBinding() {
    const binding = { environments: [], listeners: [], announcers: [], startError: undefined };

    binding.Environment = class Environment {
        calls = [];

        constructor(wake) {
            this.wake = wake;
            binding.environments.push(this);
        }

        refer() {
            this.calls.push('refer');
        }

        unrefer() {
            this.calls.push('unrefer');
        }

        close() {
            this.calls.push('close');
        }

        /** Whether the process is kept up. */
        get referred() {
            const calls = this.calls.filter(call => /refer/.test(call));
            return calls.at(-1) === 'refer' && !this.calls.includes('close');
        }
    };

    binding.Listener = class Listener {
        bound = '0.0.0.0';
        closed = false;
        counters = { datagrams: 0 };
        #changes = [];
        #notices = [];

        constructor(environment, ...settings) {
            if (binding.startError) {
                throw binding.startError;
            }
            [
                this.port,
                this.host,
                this.relay,
                this.correction,
                this.maxServers,
                this.names,
            ] = settings;
            this.environment = environment;
            binding.listeners.push(this);
        }

        hears(kind, server, detail) {
            this.#changes.push([kind, server, detail]);
            return this;
        }

        adds(...servers) {
            servers.forEach(server => this.hears('add', server));
            return this;
        }

        notices(level, code, message) {
            this.#notices.push([level, code, message]);
            return this;
        }

        wake() {
            this.environment.wake();
            return this;
        }

        drain(limit, onChange, onNotice) {
            this.#notices.splice(0).forEach(notice => onNotice(...notice));
            for (let left = limit; left > 0 && this.#changes.length > 0; left -= 1) {
                const [kind, { id, name, host, port, timeout, transport }, detail]
                    = this.#changes.shift();
                onChange(kind, id, name, host, port, timeout, transport ?? null, detail ?? null);
            }
            return this.#changes.length > 0;
        }

        servers(each) {
            each('id-1', 'imq-broker', '10.0.0.1', 6379, null, 1700000000000, '10.0.0.1:5000');
        }

        stats(each) {
            Object.entries(this.counters).forEach(([name, value]) => each(name, value));
        }

        address() {
            return this.bound;
        }

        close() {
            this.closed = true;
            this.bound = null;
        }
    };

    binding.Announcer = class Announcer {
        calls = [];
        #notices = [];

        constructor(environment, ...settings) {
            if (binding.startError) {
                throw binding.startError;
            }
            [
                this.host,
                this.port,
                this.name,
                this.id,
                this.interval,
                this.transport,
                this.destinations,
            ] = settings;
            this.environment = environment;
            binding.announcers.push(this);
        }

        notices(level, code, message) {
            this.#notices.push([level, code, message]);
            return this;
        }

        wake() {
            this.environment.wake();
            return this;
        }

        drain(onNotice) {
            this.#notices.splice(0).forEach(notice => onNotice(...notice));
        }

        stop() {
            this.calls.push('stop');
        }

        close() {
            this.calls.push('close');
        }
    };

    return binding;
}

module.exports = { createFakeBinding };
