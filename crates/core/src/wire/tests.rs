use super::*;

/// An `up` with one field replaced; `None` if it is rejected for that field's sake.
fn address(address: &str) -> Option<(String, u16)> {
    let line = format!("imq-broker\tid-1\tup\t{address}\t1");
    match Datagram::read(line.as_bytes()) {
        Ok(datagram) => Some((datagram.host.to_owned(), datagram.port)),
        Err(error) => {
            assert_eq!(error, ReadError::Address, "{address:?}");
            None
        }
    }
}

fn interval(interval: &str) -> Option<Duration> {
    let line = format!("imq-broker\tid-1\tup\t10.0.4.12:6379\t{interval}");
    match Datagram::read(line.as_bytes()) {
        Ok(datagram) => Some(datagram.interval),
        Err(error) => {
            assert_eq!(error, ReadError::Interval, "{interval:?}");
            None
        }
    }
}

fn transport(transport: &str) -> Option<Transport> {
    let line = format!("imq-broker\tid-1\tup\t10.0.4.12:6379\t1\t{transport}");
    Datagram::read(line.as_bytes()).unwrap().transport
}

#[test]
fn reading_borrows_what_it_can() {
    let line = "брокер\tid-1\tup\tredis-1.internal:6379\t1".as_bytes();
    let datagram = Datagram::read(line).unwrap();
    assert!(matches!(datagram.name, Cow::Borrowed("брокер")));
    assert!(matches!(datagram.id, Cow::Borrowed("id-1")));
}

#[test]
fn undecodable_bytes_are_replaced_in_name_and_guid_only() {
    let datagram = Datagram::read(b"br\xf6ker\t\xff\tup\t10.0.4.12:6379\t1").unwrap();
    assert_eq!(
        (&*datagram.name, &*datagram.id),
        ("br\u{fffd}ker", "\u{fffd}")
    );

    let host = Datagram::read(b"imq-broker\tid-1\tup\tbr\xf6ker:6379\t1");
    assert_eq!(host, Err(ReadError::Address));
    let interval = Datagram::read(b"imq-broker\tid-1\tup\t10.0.4.12:6379\t1\xff");
    assert_eq!(interval, Err(ReadError::Interval));
}

#[test]
fn lengths_are_those_of_the_bytes_sent() {
    let line = |name: usize, id: usize, host: usize| {
        let mut line = vec![0xff; name];
        line.push(b'\t');
        line.extend(vec![0xff; id]);
        line.extend(format!("\tup\t{}:6379\t1", "h".repeat(host)).into_bytes());
        Datagram::read(&line).map(drop)
    };
    assert_eq!(line(255, 128, 253), Ok(()));
    assert_eq!(line(256, 128, 253), Err(ReadError::Name));
    assert_eq!(line(0, 128, 253), Err(ReadError::Name));
    assert_eq!(line(255, 129, 253), Err(ReadError::Id));
    assert_eq!(line(255, 0, 253), Err(ReadError::Id));
    assert_eq!(line(255, 128, 254), Err(ReadError::Address));
    assert_eq!(line(255, 128, 0), Err(ReadError::Address));
}

#[test]
fn control_characters_reject() {
    for control in ['\0', '\n', '\u{1b}', '\u{7f}', '\u{85}'] {
        let name = format!("imq{control}\tid-1\tup\t10.0.4.12:6379\t1");
        assert_eq!(Datagram::read(name.as_bytes()), Err(ReadError::Name));
        let id = format!("imq-broker\tid{control}\tup\t10.0.4.12:6379\t1");
        assert_eq!(Datagram::read(id.as_bytes()), Err(ReadError::Id));
    }
}

#[test]
fn the_first_field_at_fault_is_reported() {
    assert_eq!(Datagram::read(b"\t\tbye\t"), Err(ReadError::Name));
    assert_eq!(Datagram::read(b"imq-broker\t\tbye\t"), Err(ReadError::Id));
    assert_eq!(
        Datagram::read(b"imq-broker\tid-1\tbye\t"),
        Err(ReadError::Kind)
    );
    assert_eq!(
        Datagram::read(b"imq-broker\tid-1\tup\t\t"),
        Err(ReadError::Address)
    );
    assert_eq!(
        Datagram::read(b"imq-broker\tid-1\tup"),
        Err(ReadError::Fields)
    );
}

#[test]
fn hosts_that_nothing_can_connect_to_reject() {
    for host in [
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "239.255.255.255",
        "[::]",
        "[ff02::1]",
        "[::ffff:0.0.0.0]",
        "[::ffff:255.255.255.255]",
        "[::ffff:224.0.0.1]",
        "[redis-1]",
        "[10.0.4.12]",
        "[fe80::1%eth0]",
        "[fd00::1",
        "fd00::1]",
        "[]",
        "[[fd00::1]]",
        "redis 1",
        "redis/1",
        "user@redis",
        "redis:1",
        "redis\u{1b}",
    ] {
        assert_eq!(address(&format!("{host}:6379")), None, "{host}");
    }
}

#[test]
fn hosts_are_taken_as_written() {
    for host in [
        "10.0.4.12",
        "127.0.0.1",
        "redis_1",
        "Redis-1.Internal.",
        "брокер.рф",
        "10.0.4",
    ] {
        assert_eq!(
            address(&format!(" {host} : 6379 ")),
            Some((host.to_owned(), 6379))
        );
    }
    for host in ["fd00::1", "::1", "FD00:0::1", "::ffff:10.0.4.12"] {
        assert_eq!(
            address(&format!(" [{host}] : 6379 ")),
            Some((host.to_owned(), 6379))
        );
    }
}

#[test]
fn ports_are_digits_from_1_to_65535() {
    for port in [
        "", " ", "0", "+1", "-1", "1e3", "0x1F", "6 379", "6379a", "65536", "٦٣٧٩",
    ] {
        assert_eq!(address(&format!("redis:{port}")), None, "{port:?}");
    }
    assert_eq!(address("redis:1"), Some(("redis".to_owned(), 1)));
    assert_eq!(address("redis:0065535"), Some(("redis".to_owned(), 65_535)));
}

#[test]
fn intervals_are_seconds_clamped_to_a_day() {
    for text in [
        "", " ", "-1", "-1e-9", "NaN", "nan", "inf", "Infinity", "-inf", "1,5", "0x10",
    ] {
        assert_eq!(interval(text), None, "{text:?}");
    }
    assert_eq!(interval(" 1.5 "), Some(Duration::from_millis(1_500)));
    assert_eq!(interval("-0"), Some(Duration::ZERO));
    assert_eq!(interval("1e-9"), Some(Duration::from_nanos(1)));
    assert_eq!(
        interval("86399.999"),
        Some(MAX_INTERVAL - Duration::from_millis(1))
    );
    assert_eq!(interval("86400.001"), Some(MAX_INTERVAL));
    assert_eq!(interval("1e308"), Some(MAX_INTERVAL));
}

#[test]
fn a_down_needs_no_interval_but_reads_a_good_one() {
    let down = |rest: &str| {
        let line = format!("imq-broker\tid-1\tdown\t10.0.4.12:6379{rest}");
        Datagram::read(line.as_bytes()).unwrap().interval
    };
    assert_eq!(down(""), Duration::ZERO);
    assert_eq!(down("\tsoon"), Duration::ZERO);
    assert_eq!(down("\t-1"), Duration::ZERO);
    assert_eq!(down("\t2"), Duration::from_secs(2));
}

#[test]
fn an_unknown_transport_is_none() {
    assert_eq!(transport(" TLS "), Some(Transport::Tls));
    assert_eq!(transport("Plain"), Some(Transport::Plain));
    assert_eq!(transport("tls2"), None);
    assert_eq!(transport(""), None);
}

#[test]
fn writing_an_up_gives_five_fields_or_six_and_a_down_four() {
    let mut datagram = Datagram {
        name: "imq-broker".into(),
        id: "id-1".into(),
        kind: Kind::Up,
        host: "10.0.4.12",
        port: 6379,
        interval: Duration::from_millis(500),
        transport: None,
    };
    assert_eq!(
        datagram.to_string(),
        "imq-broker\tid-1\tup\t10.0.4.12:6379\t0.5"
    );
    datagram.transport = Some(Transport::Tls);
    datagram.host = "fd00::1";
    datagram.interval = Duration::from_secs(1);
    assert_eq!(
        datagram.to_string(),
        "imq-broker\tid-1\tup\t[fd00::1]:6379\t1\ttls"
    );
    datagram.kind = Kind::Down;
    assert_eq!(
        datagram.to_string(),
        "imq-broker\tid-1\tdown\t[fd00::1]:6379"
    );
}
