//! The command line, and what stands for it in the environment.
//!
//! All values are texts here: what they have to be is said in `settings.rs`, in which an error names
//! the flag or the variable that a value came from, and never shows a password.

use clap::Parser;

use crate::given::Given;

/// Makes a Redis known to the services of an @imqueue fleet, from beside it.
///
/// It asks the Redis how it is, and announces it by UDP while it answers, has loaded its data, is a
/// master, and listens where services are told that it does. One that stops, crashes, hangs, becomes
/// a replica or listens elsewhere is taken back at once.
#[derive(Debug, Parser)]
#[command(
    name = "imq-announcer",
    version,
    after_help = EXAMPLES,
    max_term_width = 100,
    next_line_help = true,
)]
pub(crate) struct Cli {
    /// How services are told.
    ///
    /// broadcast: by broadcast on every network of this host. For bare metal, a LAN, Docker bridges,
    /// a laptop. Nothing else needs to be said.
    ///
    /// kubernetes: to each pod of the namespace, as the Kubernetes API lists them. For clusters, whose
    /// networks rarely deliver broadcasts. The service account needs `list` on pods, better also
    /// `watch`.
    ///
    /// unicast: to the hosts named by --to. For the rest. The name of a headless service stands for
    /// all its pods.
    #[arg(
        env = "IMQ_ANNOUNCER_RECIPE",
        value_name = "broadcast|kubernetes|unicast"
    )]
    pub(crate) recipe: Option<Given>,

    /// Show all settings as they were understood, and exit
    #[arg(long)]
    pub(crate) print_config: bool,

    /// Where the Redis is: host:port, redis://, rediss:// (TLS) or unix:///path, with user and
    /// password or not [default: 127.0.0.1:6379]
    #[arg(long, env = "IMQ_ANNOUNCER_REDIS", hide_env_values = true, help_heading = REDIS, value_name = "ADDRESS")]
    pub(crate) redis: Option<Given>,

    /// ACL user; it needs +ping +role +info, and is content with +ping
    #[arg(long, env = "IMQ_ANNOUNCER_USER", help_heading = REDIS, value_name = "NAME")]
    pub(crate) user: Option<Given>,

    /// Password; other users of this host can read it here, so better use the variable or a file
    #[arg(long, env = "IMQ_ANNOUNCER_PASSWORD", hide_env_values = true, help_heading = REDIS, value_name = "TEXT")]
    pub(crate) password: Option<Given>,

    /// File with the password, read again for each connection
    #[arg(long, env = "IMQ_ANNOUNCER_PASSWORD_FILE", help_heading = REDIS, value_name = "PATH")]
    pub(crate) password_file: Option<Given>,

    /// Speak TLS, as rediss:// does
    #[arg(long, env = "IMQ_ANNOUNCER_TLS", num_args = 0..=1, default_missing_value = "yes", require_equals = true, help_heading = REDIS, value_name = "yes|no")]
    pub(crate) tls: Option<Given>,

    /// Certificate authorities to trust, PEM [default: those of the system]
    #[arg(long, env = "IMQ_ANNOUNCER_TLS_CA", help_heading = REDIS, value_name = "PATH")]
    pub(crate) tls_ca: Option<Given>,

    /// Client certificate with its chain, PEM
    #[arg(long, env = "IMQ_ANNOUNCER_TLS_CERT", help_heading = REDIS, value_name = "PATH")]
    pub(crate) tls_cert: Option<Given>,

    /// Private key of the client certificate, PEM
    #[arg(long, env = "IMQ_ANNOUNCER_TLS_KEY", help_heading = REDIS, value_name = "PATH")]
    pub(crate) tls_key: Option<Given>,

    /// Name in the certificate of the server [default: the host of --redis]
    #[arg(long, env = "IMQ_ANNOUNCER_TLS_NAME", help_heading = REDIS, value_name = "NAME")]
    pub(crate) tls_name: Option<Given>,

    /// How long the Redis may take to answer before it counts as hanging [default: two intervals,
    /// at most 10]
    #[arg(long, env = "IMQ_ANNOUNCER_REDIS_TIMEOUT", help_heading = REDIS, value_name = "SECONDS")]
    pub(crate) redis_timeout: Option<Given>,

    /// Announce the Redis also while it is a replica, which refuses writes
    #[arg(long, env = "REDIS_BROADCAST_REPLICAS", num_args = 0..=1, default_missing_value = "yes", require_equals = true, help_heading = REDIS, value_name = "yes|no")]
    pub(crate) replicas: Option<Given>,

    /// Name that services may filter brokers by [default: imq-broker]
    #[arg(long, env = "REDIS_BROADCAST_NAME", help_heading = ANNOUNCEMENT, value_name = "TEXT")]
    pub(crate) name: Option<Given>,

    /// UDP port that services listen on [default: 63000]
    #[arg(long, env = "REDIS_BROADCAST_PORT", help_heading = ANNOUNCEMENT, value_name = "NUMBER")]
    pub(crate) port: Option<Given>,

    /// How often the Redis is announced; a service misses one that is gone without a word after this
    /// and five seconds [default: 1]
    #[arg(long, env = "REDIS_BROADCAST_INTERVAL", help_heading = ANNOUNCEMENT, value_name = "SECONDS")]
    pub(crate) interval: Option<Given>,

    /// Whether services are to speak TLS to the address they are told [default: as this program does]
    #[arg(long, env = "REDIS_BROADCAST_TLS", help_heading = ANNOUNCEMENT, value_name = "yes|no")]
    pub(crate) announce_tls: Option<Given>,

    /// Address that services are told, as host, host:port or :port [default: the host of --redis, or
    /// the address of this host in the network that is told, if that one is loopback or a socket]
    #[arg(long, env = "IMQ_ANNOUNCER_ADVERTISE", help_heading = ANNOUNCEMENT, value_name = "ADDRESS")]
    pub(crate) advertise: Option<Given>,

    /// Only these networks of this host: beginnings of addresses or networks, such as 192.168. or
    /// 172.16.0.0/12, with commas between them [default: all but loopback]
    #[arg(long, env = "SELECTED_INTERFACES", help_heading = ANNOUNCEMENT, value_name = "NETWORKS")]
    pub(crate) interfaces: Option<Given>,

    /// unicast: hosts, each with a port or not, with commas between them
    #[arg(long, env = "IMQ_ANNOUNCER_TO", help_heading = RECIPES, value_name = "HOSTS")]
    pub(crate) to: Option<Given>,

    /// kubernetes: namespace of the pods [default: the one of this pod]
    #[arg(long, env = "DEPLOYMENT_ENV", help_heading = RECIPES, value_name = "NAME")]
    pub(crate) namespace: Option<Given>,

    /// kubernetes: label selector of the pods [default: all]
    #[arg(long, env = "IMQ_ANNOUNCER_SELECTOR", help_heading = RECIPES, value_name = "LABELS")]
    pub(crate) selector: Option<Given>,

    /// kubernetes: how often pods are listed where only `list` is granted [default: 5]
    #[arg(long, env = "REDIS_BROADCAST_PODS_REFRESH", help_heading = RECIPES, value_name = "SECONDS")]
    pub(crate) pods_refresh: Option<Given>,

    /// kubernetes: how long a request to the API may take [default: 5]
    #[arg(long, env = "REDIS_BROADCAST_PODS_TIMEOUT", help_heading = RECIPES, value_name = "SECONDS")]
    pub(crate) pods_timeout: Option<Given>,

    /// kubernetes: how long the last pods are told while the API is away, 0 for ever [default: 0]
    #[arg(long, env = "REDIS_BROADCAST_PODS_MAX_AGE", help_heading = RECIPES, value_name = "SECONDS")]
    pub(crate) pods_max_age: Option<Given>,

    /// kubernetes: URL of the API [default: the one of this pod]
    #[arg(long, env = "IMQ_ANNOUNCER_API_SERVER", help_heading = RECIPES, value_name = "URL")]
    pub(crate) api_server: Option<Given>,

    /// kubernetes: certificate authority of the API named by --api-server
    #[arg(long, env = "IMQ_ANNOUNCER_API_CA", help_heading = RECIPES, value_name = "PATH")]
    pub(crate) api_ca: Option<Given>,

    /// kubernetes: file with the token for the API named by --api-server
    #[arg(long, env = "IMQ_ANNOUNCER_API_TOKEN_FILE", help_heading = RECIPES, value_name = "PATH")]
    pub(crate) api_token_file: Option<Given>,

    /// Answer GET /healthz (it lives), /readyz (the Redis is announced) and /metrics (Prometheus) on
    /// this TCP port, or address:port [default: nowhere]
    #[arg(long, env = "IMQ_ANNOUNCER_HEALTH_PORT", value_name = "NUMBER")]
    pub(crate) health_port: Option<Given>,
}

const REDIS: &str = "The Redis";
const ANNOUNCEMENT: &str = "What is announced";
const RECIPES: &str = "To whom";

const EXAMPLES: &str = "\
Examples:
  A Redis on this host, told to everybody on its networks:
      imq-announcer broadcast

  A container beside the Redis of a Kubernetes pod:
      imq-announcer kubernetes --health-port 9121

  A managed Redis with TLS, told to all pods of a headless service:
      IMQ_ANNOUNCER_PASSWORD=... imq-announcer unicast --to workers.default.svc \\
          --redis rediss://cache.example.com:6379

  What would it do?
      imq-announcer broadcast --print-config

Services listen with RustUDPClusterManager, or with UDPClusterManager of @imqueue/core, on UDP port \
63000.

It ends with 0 after SIGTERM, SIGINT, SIGQUIT or SIGHUP, having said that the Redis leaves (after \
nohup, SIGHUP does nothing); with 2 if a setting is wrong or the health port is taken. Nothing else \
ends it.";
