//! TLS towards a Redis.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The files that TLS needs. They are read again for each connection, so that certificates may be
/// renewed while this program runs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct TlsFiles {
    /// Whom to trust; `None`: whom the system trusts.
    pub(crate) ca: Option<PathBuf>,
    /// The certificate to show, with its chain, and its private key.
    pub(crate) client: Option<(PathBuf, PathBuf)>,
}

/// How to speak TLS with one server.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    system: Arc<RootCertStore>,
    name: ServerName<'static>,
}

/// Why there can be no TLS.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum TlsError {
    #[error("{0:?} is no name and no address that a certificate could have")]
    Name(String),
    #[error("{path}: {error}")]
    File {
        path: PathBuf,
        error: rustls::pki_types::pem::Error,
    },
    #[error("{0}: there is no usable certificate in it")]
    Empty(PathBuf),
    #[error("the system has no certificates to trust, so whom to trust has to be said")]
    NoneTrusted,
    #[error("{0}: {1}")]
    Certificate(PathBuf, rustls::Error),
    #[error(transparent)]
    Protocol(#[from] rustls::Error),
}

impl Tls {
    /// For the server that has a certificate for `name`.
    ///
    /// # Errors
    ///
    /// The files cannot be used.
    pub(crate) fn new(files: TlsFiles, name: &str) -> Result<Self, TlsError> {
        let mut system = RootCertStore::empty();
        if files.ca.is_none() {
            system.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if system.is_empty() {
                return Err(TlsError::NoneTrusted);
            }
        }
        let server = ServerName::try_from(name.to_owned());
        let tls = Self {
            files,
            system: Arc::new(system),
            name: server.map_err(|_| TlsError::Name(name.to_owned()))?,
        };
        tls.config()?;
        Ok(tls)
    }

    /// Speaks TLS on `stream`.
    ///
    /// # Errors
    ///
    /// The files cannot be used any more, or one side does not trust the other.
    pub(crate) async fn connect(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = self.config().map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(self.name.clone(), stream).await
    }

    fn config(&self) -> Result<ClientConfig, TlsError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(self.trusted()?);
        let Some((certificate, key)) = &self.files.client else {
            return Ok(builder.with_no_client_auth());
        };
        let chain = certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| TlsError::File {
            path: key.clone(),
            error,
        })?;
        builder
            .with_client_auth_cert(chain, private)
            .map_err(|error| TlsError::Certificate(certificate.clone(), error))
    }

    fn trusted(&self) -> Result<Arc<RootCertStore>, TlsError> {
        let Some(path) = &self.files.ca else {
            return Ok(Arc::clone(&self.system));
        };
        let mut trusted = RootCertStore::empty();
        trusted.add_parsable_certificates(certificates(path)?);
        if trusted.is_empty() {
            return Err(TlsError::Empty(path.clone()));
        }
        Ok(Arc::new(trusted))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let list: Vec<_> = read.map_err(|error| TlsError::File {
        path: path.to_owned(),
        error,
    })?;
    if list.is_empty() {
        return Err(TlsError::Empty(path.to_owned()));
    }
    Ok(list)
}

/// As `--print-config` shows it.
impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to {}", self.name.to_str())?;
        match &self.files.ca {
            Some(ca) => write!(f, ", trusting {}", ca.display())?,
            None => f.write_str(", trusting whom the system trusts")?,
        }
        match &self.files.client {
            Some((certificate, _)) => write!(f, ", as {}", certificate.display()),
            None => Ok(()),
        }
    }
}
