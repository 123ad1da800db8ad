//! Problems as RFC 9457 for the API.
