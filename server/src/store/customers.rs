//! Customers and the records of their keys at the partner.
//!
//! Invariant: an external id is unique within its tenant.

use super::codec::{At, Id};
use super::{Result, Tx};

/// A customer of a tenant.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Customer {
    pub id: Id,
    pub tenant: String,
    pub external_id: String,
    pub name: String,
    pub created_at: At,
    pub provisioned_at: Option<At>,
}

pub async fn insert(tx: &mut Tx, row: &Customer) -> Result<()> {
    const SQL: &str = "INSERT INTO customers (id, tenant, external_id, name, created_at, provisioned_at) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    on!(tx, |c| bind_fields!(sqlx::query(SQL), row, id, tenant, external_id, name, created_at, provisioned_at)
        .execute(c)
        .await
        .map(drop))?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: Id) -> Result<Option<Customer>> {
    const SQL: &str = "SELECT * FROM customers WHERE id = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(id).fetch_optional(c).await)?)
}

pub async fn find_external(tx: &mut Tx, tenant: &str, external_id: &str) -> Result<Option<Customer>> {
    const SQL: &str = "SELECT * FROM customers WHERE tenant = $1 AND external_id = $2";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(tenant).bind(external_id).fetch_optional(c).await)?)
}

/// Makes the customer unless it is there, and locks it either way.
pub async fn ensure(tx: &mut Tx, row: &Customer) -> Result<Customer> {
    const SQL: &str = "INSERT INTO customers (id, tenant, external_id, name, created_at) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (tenant, external_id) DO NOTHING";
    on!(tx, |c| {
        let query = bind_fields!(sqlx::query(SQL), row, id, tenant, external_id, name, created_at);
        query.execute(c).await.map(drop)
    })?;
    Ok(on_locked!(tx, "SELECT * FROM customers WHERE tenant = $1 AND external_id = $2", |c, sql| {
        sqlx::query_as(sql).bind(&row.tenant).bind(&row.external_id).fetch_one(c).await
    })?)
}

pub async fn set_provisioned(tx: &mut Tx, id: Id, at: At) -> Result<()> {
    const SQL: &str = "UPDATE customers SET provisioned_at = $1 WHERE id = $2 AND provisioned_at IS NULL";
    on!(tx, |c| sqlx::query(SQL).bind(at).bind(id).execute(c).await.map(drop))?;
    Ok(())
}

/// Newest first, of the tenants in the JSON array.
pub async fn list(tx: &mut Tx, tenants: &str, before: Option<Id>, limit: i64) -> Result<Vec<Customer>> {
    macro_rules! select {
        ($members:literal) => {
            concat!(
                "SELECT * FROM customers WHERE tenant IN ",
                $members,
                " AND ($2 IS NULL OR id < $2) ORDER BY id DESC LIMIT $3"
            )
        };
    }
    Ok(match tx {
        Tx::Sqlite(c) => {
            let query = sqlx::query_as(select!("(SELECT value FROM json_each($1))"));
            query.bind(tenants).bind(before).bind(limit).fetch_all(&mut **c).await?
        }
        Tx::Postgres(c) => {
            let query = sqlx::query_as(select!("(SELECT jsonb_array_elements_text($1::jsonb))"));
            query.bind(tenants).bind(before).bind(limit).fetch_all(&mut **c).await?
        }
    })
}

/// A key at the partner, as a record; never its secret.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct CustomerKey {
    pub id: Id,
    pub customer_id: Id,
    pub operation_id: Id,
    pub public_id: String,
    pub state: String,
    pub replaced_by: Option<Id>,
    pub created_at: At,
}

pub async fn insert_key(tx: &mut Tx, row: &CustomerKey) -> Result<()> {
    const SQL: &str = "INSERT INTO customer_keys (id, customer_id, operation_id, public_id, state, replaced_by, \
         created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (operation_id) DO NOTHING";
    on!(tx, |c| {
        let query = bind_fields!(
            sqlx::query(SQL),
            row,
            id,
            customer_id,
            operation_id,
            public_id,
            state,
            replaced_by,
            created_at
        );
        query.execute(c).await.map(drop)
    })?;
    Ok(())
}

pub async fn list_keys(tx: &mut Tx, customer: Id) -> Result<Vec<CustomerKey>> {
    const SQL: &str = "SELECT * FROM customer_keys WHERE customer_id = $1 ORDER BY id";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(customer).fetch_all(c).await)?)
}
