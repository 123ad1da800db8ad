//! TLS as the connector speaks it: the public roots, plus those an installation adds for private authorities.
//!
//! Leaves out client certificates, early data and session resumption: each attempt is agreed from nothing.
//! Invariant: there is no switch that accepts a certificate without checking it.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

#[derive(Clone)]
pub struct TlsClient {
    connector: TlsConnector,
}

/// An extra root that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum NoRoots {
    #[error("not a PEM file with certificates: {0}")]
    Unreadable(String),
    #[error("no certificate in it")]
    Empty,
    #[error("not usable as a root: {0}")]
    Unusable(#[from] rustls::Error),
}

impl TlsClient {
    pub fn with_public_roots() -> Result<Self, NoRoots> {
        Self::with_extra_roots(&[])
    }

    pub fn with_extra_roots(extra: &[CertificateDer<'_>]) -> Result<Self, NoRoots> {
        let mut roots = RootCertStore::empty();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        for root in extra {
            roots.add(root.clone().into_owned())?;
        }
        // The provider is named here: a process-wide default could be another one.
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::disabled();
        Ok(TlsClient { connector: TlsConnector::from(Arc::new(config)) })
    }

    /// The public roots and every certificate in a PEM file.
    pub fn with_extra_pem(pem: &[u8]) -> Result<Self, NoRoots> {
        let extra = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|unreadable| NoRoots::Unreadable(unreadable.to_string()))?;
        if extra.is_empty() { Err(NoRoots::Empty) } else { Self::with_extra_roots(&extra) }
    }

    pub(super) async fn agree(&self, host: &str, tcp: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.connector.connect(name, tcp).await
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsClient")
    }
}
