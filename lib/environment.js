'use strict';

// Not the global one, which fake timers of tests replace: what it continues would never end.
const { setImmediate } = require('node:timers');

/**
 * The bridge between the native hub thread and this copy of the facade in this JavaScript thread.
 *
 * Native code knows it as one wake function. When that is called, whatever is resident here drains
 * what is new for it. The native side exists only while there are residents, so that nothing is
 * left of it after the last `destroy`.
 */
class Environment {
    #loadBinding;
    #native;
    #residents = new Set();
    /** The residents that keep the process up. */
    #holders = new Set();
    #continuation;
    #wakeups = 0;

    /** @param {() => object} loadBinding - returns the native binding, or throws */
    constructor(loadBinding) {
        this.#loadBinding = loadBinding;
    }

    /** How often native code has woken this environment. */
    get wakeups() {
        return this.#wakeups;
    }

    /**
     * Starts a native object and drains its news from now on.
     *
     * @template T
     * @param {{ drain(): boolean }} resident - drained on each wake-up; returns whether more waits
     * @param {(binding: object, native: object) => T} start - makes the native object
     * @returns {T} what `start` returned
     * @throws {RangeError} when native code refuses an argument; nothing has changed then
     * @throws {Error} when there is no binding, or the object cannot be started; likewise
     */
    admit(resident, start) {
        const binding = this.#loadBinding();
        this.#native ??= new binding.Environment(() => this.#wake());

        try {
            const started = start(binding, this.#native);
            this.#residents.add(resident);
            return started;
        } catch (error) {
            throw translate(error);
        } finally {
            this.#closeIfEmpty();
        }
    }

    /** Forgets a resident, which has closed its native object. */
    dismiss(resident) {
        this.release(resident);
        this.#residents.delete(resident);
        this.#closeIfEmpty();
    }

    /** Makes a resident keep the process up. */
    hold(resident) {
        if (this.#residents.has(resident) && !this.#holders.has(resident)) {
            this.#holders.add(resident);
            if (this.#holders.size === 1) {
                this.#native.refer();
            }
        }
    }

    /** Lets the process end although the resident lives. */
    release(resident) {
        if (this.#holders.delete(resident) && this.#holders.size === 0) {
            this.#native.unrefer();
        }
    }

    #closeIfEmpty() {
        if (this.#residents.size === 0) {
            this.#native.close();
            this.#native = undefined;
        }
    }

    #wake() {
        this.#wakeups += 1;
        this.#drain();
    }

    /** One round: each resident in turn, so that none has to wait for another's storm to end. */
    #drain() {
        let more = false;
        for (const resident of [...this.#residents]) {
            more = resident.drain() || more;
        }
        if (more) {
            this.#continuation ??= setImmediate(() => {
                this.#continuation = undefined;
                this.#drain();
            });
        }
    }
}

/** Native errors belong to no realm in particular; what is thrown is made where it is caught. */
function translate(error) {
    const Type = error.code === 'InvalidArg' ? RangeError : Error;
    return new Type(error.message, { cause: error });
}

exports.Environment = Environment;
