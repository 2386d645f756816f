import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Router } from '@koa/router';
import * as E from 'fp-ts/lib/Either.js';
import Koa, { type Context } from 'koa';
import { koaBody } from 'koa-body';
import { commands } from '#commands/table.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { Held } from '#exchange/held.ts';
import { slotTable } from '#exchange/slot-table.ts';
import { jsonBodyReader } from '#http/request/request-body.ts';
import { createRequestContext } from '#http/request/request-context.ts';
import { writeResponse } from '#http/response/response.ts';
import { createRouter, type Handler, type Route } from '#http/routes/router.ts';
import { SlimKoa } from '#http/server/server.ts';
import { queries } from '#queries/table.ts';

/** The routes to serve, passed as JSON in the first argument. */
export interface KoaTask {
  /** Plain Koa with its middleware; the same with the service's reader of bodies; the service's way around Koa. */
  readonly kind: 'plain' | 'plain, bodies limited' | 'around';
  readonly status: number;
  /** Names and values alternate. */
  readonly headers: ReadonlyArray<string>;
  readonly body: string;
}

const maxBodyBytes = 768 * 1024;
const maxBodyValues = 50_000;

/**
 * Answers every route of the API with the same status, headers and JSON, behind the router, after reading and parsing
 * the body of a POST. That is only the HTTP adapter's share of a request. Prints its port.
 */
const { kind, status, headers, body } = JSON.parse(process.argv[2] ?? '{}') as KoaTask;
const answer: unknown = JSON.parse(body);
const paths = [...commands, ...queries].map(({ http: { method, path } }) => ({ method: method.toUpperCase(), path }));

const readBody = jsonBodyReader(maxBodyBytes, maxBodyValues);
const budget = new ByteBudget(slotTable.bytes.body.limits);

const app = kind === 'around' ? aroundKoa() : plainKoa();
const server = createServer(app.callback());
server.listen(0, '127.0.0.1', () => process.stdout.write(String((server.address() as AddressInfo).port)));

function plainKoa(): Koa {
  const plain = new Koa();
  const router = new Router({ strict: true, sensitive: true });
  const handler = async (ctx: Context) => {
    ctx.status = status;
    for (let index = 0; index < headers.length; index += 2) ctx.set(headers[index] ?? '', headers[index + 1] ?? '');
    ctx.body = answer;
  };
  for (const { method, path } of paths) router.register(path, [method], handler);
  if (kind === 'plain')
    plain.use(koaBody({ jsonLimit: maxBodyBytes, multipart: false, urlencoded: false, text: false }));
  else
    plain.use(async (ctx, next) => {
      await takeBody(ctx);
      await next();
    });
  plain.use(router.routes());
  return plain;
}

function aroundKoa(): Koa {
  const slim = new SlimKoa();
  const handler: Handler = async (ctx) => {
    await takeBody(ctx);
    writeResponse(ctx, status, headers, JSON.stringify(answer));
  };
  const router = createRouter(paths.map(({ method, path }): Route => ({ method, path, handler })));
  slim.use(async (ctx) => {
    const context = createRequestContext(ctx);
    ctx.state = context;
    await (router.handle(ctx, context.path) ?? writeResponse(ctx, 404, [], null));
  });
  return slim;
}

/** Reads and parses a body as the service does, with limits on bytes and values. */
async function takeBody(ctx: Context): Promise<void> {
  const held = new Held('project', { body: budget, answer: budget });
  const read = await readBody(ctx, held);
  held.release();
  if (E.isLeft(read)) throw new Error(read.left.detail);
}
