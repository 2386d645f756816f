import type Koa from 'koa';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { createErrorResponse } from '#exchange/problem.ts';
import { createRequestContext } from '#http/request/request-context.ts';
import { apiSecurityHeaders, noStoreHeaders, writeResponse } from '#http/response/response.ts';
import { createRouter, type Route } from '#http/routes/router.ts';
import { SlimKoa } from './server.ts';

const starting = failure('unavailable', 'The service is starting. Try again in a second.', { retryAfterSeconds: 1 });

/**
 * An app for an address that has no service yet: every request is 503.
 * @param refusal default: the service is starting
 * @param routes answered all the same. Default: none
 */
export function createStartingApp(refusal: Failure = starting, routes: ReadonlyArray<Route> = []): Koa {
  const router = createRouter(routes);
  const retryAfter = ['Retry-After', String(refusal.retryAfterSeconds ?? 1)];
  const app = new SlimKoa();
  app.use(async (ctx) => {
    const request = { ...createRequestContext(ctx), onBothPlanes: true };
    ctx.state = request;
    const answered = router.handle(ctx, request.path);
    if (answered !== null) return void (await answered);
    const { status, contentType, body } = createErrorResponse(refusal, request);
    const fields = [...apiSecurityHeaders, ...noStoreHeaders, 'Content-Type', contentType, ...retryAfter];
    writeResponse(ctx, status, fields, JSON.stringify(body));
  });
  return app;
}
