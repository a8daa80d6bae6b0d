//! Announcers, heard by listeners and by plain sockets.

use std::time::Duration;

use imqueue_udp_core::Announcement;
use imqueue_udp_net::{AnnouncerNotice, AnnouncerOptions, Destination};

use crate::common::{EVERYONE, Follower, ONE, Port, QUIET, Speaker, hear};

#[test]
fn hears_an_announcer_until_it_is_stopped() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let speaker = Speaker::start("a", &[format!("127.255.255.255:{}", port.number)]);
    speaker.notice("announced");
    follower.expect(&["+a"]);
    speaker.stop();
    follower.expect(&["-a down"]);
}

#[test]
fn down_is_the_last_word() {
    let port = Port::reserve();
    let eavesdropper = port.eavesdrop();
    let speaker = Speaker::start("a", &[format!("127.255.255.255:{}", port.number)]);
    for _ in 0..3 {
        assert!(hear(&eavesdropper).contains("\tup\t"));
    }
    speaker.announcer.stop();
    speaker.announcer.stop();
    speaker.notice("stopped");

    // `Stopped` comes after the `down` was sent, so all that was said is in the buffer by now. The
    // timeout shows that nothing follows.
    eavesdropper.set_read_timeout(Some(QUIET)).unwrap();
    let mut said = Vec::new();
    let mut buffer = [0; 2048];
    while let Ok(length) = eavesdropper.recv(&mut buffer) {
        said.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
    }
    let goodbyes = said.iter().filter(|word| word.contains("\tdown\t")).count();
    assert_eq!(goodbyes, 3, "{said:?}");
    let last = &said[said.len() - goodbyes..];
    assert!(
        last.iter().all(|word| word.contains("\tdown\t")),
        "{said:?}"
    );
    drop(speaker);
}

#[test]
fn a_stop_is_heard_even_if_the_announcer_is_dropped_right_away() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let speaker = Speaker::start("a", &[format!("127.255.255.255:{}", port.number)]);
    follower.expect(&["+a"]);
    speaker.announcer.stop();
    drop(speaker);
    follower.expect(&["-a down"]);
}

#[test]
fn a_dropped_announcer_says_no_down() {
    let port = Port::reserve();
    let eavesdropper = port.eavesdrop();
    let speaker = Speaker::start("a", &[format!("127.255.255.255:{}", port.number)]);
    assert!(hear(&eavesdropper).contains("\tup\t"));
    drop(speaker);

    // Ends when nothing has come for a while.
    eavesdropper.set_read_timeout(Some(QUIET)).unwrap();
    let mut buffer = [0; 2048];
    while let Ok(length) = eavesdropper.recv(&mut buffer) {
        let said = String::from_utf8_lossy(&buffer[..length]);
        assert!(said.contains("\tup\t"), "said {said:?}");
    }
}

#[test]
fn announces_to_host_names() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let speaker = Speaker::start("a", &[format!("localhost:{}", port.number)]);
    follower.expect(&["+a"]);
    speaker.notice("announced");
    speaker.stop();
    follower.expect(&["-a down"]);
}

#[test]
fn a_destination_that_fails_does_not_keep_others_from_hearing() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let interval = Duration::from_millis(20);
    let announcement = Announcement::new("imq", "a", "10.0.0.1", 6379, interval, None).unwrap();
    // The system refuses port 0, which a destination that is read from a text cannot have.
    let refused = Destination::Address((ONE, 0).into());
    let heard = Destination::Address((EVERYONE, port.number).into());
    let destinations = vec![refused, heard];
    let speaker = Speaker::with(AnnouncerOptions {
        announcement,
        destinations,
        interface: None,
    });

    let notice = speaker.notice("failed");
    assert!(matches!(
        notice,
        AnnouncerNotice::SendFailed { ref destination, .. } if destination == "127.0.0.1:0"
    ));
    follower.expect(&["+a"]);
    speaker.stop();
    follower.expect(&["-a down"]);
}
