import type Koa from 'koa';
import { failure } from '#domain/shared/failure.ts';
import { createErrorResponse } from '#exchange/problem.ts';
import { apiSecurityHeaders, noStoreHeaders, writeResponse } from '#http/response/response.ts';
import { createRequestContext } from './request-context.ts';
import { SlimKoa } from './server.ts';

const starting = failure('unavailable', 'The service is starting. Try again in a second.', { retryAfterSeconds: 1 });

/** The app of an address until its service has started: every request is 503. */
export function createStartingApp(): Koa {
  const app = new SlimKoa();
  app.use(async (ctx) => {
    const request = { ...createRequestContext(ctx), onBothPlanes: true };
    ctx.state = request;
    const { status, contentType, body } = createErrorResponse(starting, request);
    const fields = [...apiSecurityHeaders, ...noStoreHeaders, 'Content-Type', contentType, 'Retry-After', '1'];
    writeResponse(ctx, status, fields, JSON.stringify(body));
  });
  return app;
}
