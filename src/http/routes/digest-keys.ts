import { apiSecurityHeaders, writeResponse } from '#http/response/response.ts';
import type { Route } from '#http/routes/router.ts';

const headers = [...apiSecurityHeaders, 'Cache-Control', 'max-age=300', 'Content-Type', 'application/jwk-set+json'];

/** A JSON Web Key Set (RFC 7517); empty if digests are not signed. */
export function digestKeysRoute(keys: ReadonlyArray<object>): Route {
  const body = JSON.stringify({ keys });
  return {
    method: 'GET',
    path: '/.well-known/switchyard-digest-keys',
    handler: async (ctx) => writeResponse(ctx, 200, headers, body),
  };
}
