/** Environment variables of libpq, and of the driver, that must have no effect on the service. */
export const WITHOUT_EFFECT = {
  PGSSLMODE: 'require',
  PGSSLNEGOTIATION: 'direct',
  PGOPTIONS: '-csearch_path=nowhere',
  PGREPLICATION: 'database',
  PGBINARY: '1',
  PGAPPNAME: 'x',
  PGCONNECT_TIMEOUT: 'x',
  PGCLIENT_ENCODING: 'LATIN1',
  PGSERVICE: 'none',
  NODE_PG_FORCE_NATIVE: '1',
};
