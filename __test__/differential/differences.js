'use strict';

/**
 * Every difference from the original that the documents promise, by the number of its rule in
 * docs/protocol.md or by a name. A run fails over any other.
 */
const DIFFERENCES = {
    'rule 3': 'neither the deadline nor the down of an old guid touches the endpoint of the '
        + 'new one; a cluster is told to remove the id that it was given',
    'rule 4': 'a further address of a broker is a standby: its end does not end the active one',
    'rule 5': 'each endpoint has a deadline of its own, and an heir',
    'rule 6': 'the down of a standby says nothing to a cluster',
    'rule 7': 'a down of anybody but the owner, or for an unknown endpoint, is ignored',
    'rule 8': 'an up within a second of the same guid\'s down is ignored',
    'rule 10': 'an unknown endpoint is ignored in a full fleet',
    'rule 12': 'a listener that was suspended grants an interval of grace',
    'find': 'a broker that a cluster has under its id at another address is neither given to it '
        + 'nor taken from it',
    'option name': 'announcements under other names are ignored',
    'fewer than three fields': 'the original dies',
    'three fields': 'the original takes the address to be empty',
    'wire: name': 'the original takes any name',
    'wire: id': 'the original takes any guid',
    'wire: address': 'the original reads malformed and unusable addresses somehow',
    'wire: interval': 'the original reads a leading number, and evicts at once where there is none',
    'wire: space': 'the original keeps space around the host',
    'wire: IPv6': 'the original takes IPv6 apart at its first colon',
    'wire: long interval': 'the original evicts at once what announces less than every 24.8 days; '
        + 'here more than a day counts as a day',
    'wire: transport': 'the original does not pass it on',
    'record of a standby': 'what becomes active is told as its owner was first heard there',
    'record of a remove': 'the original passes the datagram on, here it is what the cluster was '
        + 'given',
};

/**
 * What comes and goes before the event loop looks is not told. This one depends on how busy the
 * machine is, and thus may be missing from a run.
 */
const DRAIN = 'drained differences';

module.exports = { DIFFERENCES, DRAIN };
