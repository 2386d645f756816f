import type Koa from 'koa';
import { createInvoke } from '#application/operations/invoke.ts';
import { type Caller, scopesOfKeyType } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import { type AppOptions, createApp } from '#http/server/app.ts';

/** The caller on the control socket: a user who can open the data folder. */
export const localOperator: Caller = {
  keyId: 'local-operator',
  keyType: 'admin',
  projectId: 'system',
  organizationId: 'system',
  partnerId: null,
  scopes: scopesOfKeyType.admin,
  hasAllScopes: true,
};

/** The options of the control socket's app. */
export type LocalAppOptions = Omit<AppOptions, 'admission' | 'invoke'> & {
  /** The node's own admission. */
  readonly admission: Pick<Admission, 'budgets'>;
};

/**
 * Answers operations as the local operator, without limits of its rate. Its answers have slots and bytes of their own:
 * it answers while clients hold those of the node. Bodies share the budget of the node.
 */
export function createLocalApp({ admission, ...options }: LocalAppOptions): Koa {
  const { metrics, log: logger } = options;
  const invoke = createInvoke({ authenticate: async () => localOperator, admission: null, metrics, logger });
  return createApp({ ...options, invoke, admission: new Admission({ bodies: admission.budgets.body }) });
}
