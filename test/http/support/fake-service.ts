import { Writable } from 'node:stream';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { createInvoke, type InvokeDependencies } from '#application/operations/invoke.ts';
import { get, type Operation, patch, post, put, remove } from '#application/operations/operation.ts';
import type { Asked } from '#application/operations/operation-request.ts';
import { cuid } from '#domain/codecs/id.ts';
import { type Caller, scopesOfKeyType } from '#domain/shared/access.ts';
import { failure } from '#domain/shared/failure.ts';
import { Admission } from '#exchange/admission.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { type AppOptions, createApp } from '#http/server/app.ts';
import { type HttpServer, listen, type ServerLimits } from '#http/server/server.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { wholeNumber } from '#shared/codecs/number.ts';
import { text } from '#shared/codecs/text.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';

export const goodKey = `sy_live_${'a'.repeat(40)}`;
export const widgetId = 'cm3v8k2p90000qzrm4d1x7w5b';

export const caller: Caller = {
  keyId: 'ckey000001',
  keyType: 'project',
  projectId: 'cproject01',
  organizationId: 'corg000001',
  partnerId: null,
  scopes: scopesOfKeyType.project,
  hasAllScopes: false,
};

const Widget = t.type({ id: cuid, name: text({ min: 1, max: 20 }), shape: jsonObject }, 'Widget');
const widget = { id: widgetId, name: 'cog', shape: { teeth: 12 } };

const common = {
  plane: 'control',
  group: 'Widgets',
  scope: 'flows:read',
  failures: ['flow-not-found'],
  paged: false,
  hasRevision: true,
  output: Widget,
  example: { output: widget },
} as const;

/** Simple operations of every kind that the HTTP server must serve. */
export function fakeOperations(seen: Asked[] = [], hashes: string[] = []): ReadonlyArray<Operation> {
  const byId = t.type({ widgetId: cuid });
  const creation = t.intersection([
    t.type({ projectId: cuid, name: text({ min: 1, max: 20 }), shape: jsonObject }),
    t.partial({
      colour: nullable(text({ max: 5 })),
      finish: withDefault(oneOf('matt', 'gloss'), 'matt'),
      parts: t.array(t.type({ size: t.number })),
    }),
  ]);
  /** Every widget exists, and every key can access it. */
  const loadSubject = async (request: Asked) => {
    seen.push(request);
    return E.right(null);
  };

  const getWidget: Operation = {
    ...common,
    name: 'get_widget',
    summary: 'Get a widget',
    kind: 'query',
    http: get('/v1/widgets/:widgetId'),
    input: byId,
    loadSubject: async (request) => {
      const { widgetId } = request.parameters;
      if (widgetId === 'cabsent00') return E.left(failure('flow-not-found', 'There is no such widget.'));
      if (widgetId === 'cforeign0') return E.left(failure('scope-required', 'It needs flows:read.'));
      return loadSubject(request);
    },
    execute: async () => E.right({ status: 200, body: widget, revision: 3 }),
  };
  const listWidgets: Operation = {
    ...common,
    name: 'list_widgets',
    summary: 'List widgets',
    kind: 'query',
    http: get('/v1/projects/:projectId/widgets'),
    input: t.intersection([
      t.type({ projectId: cuid }),
      t.partial({ limit: wholeNumber(1, 1000), cursor: t.string, tag: t.string }),
    ]),
    output: t.type({ widgets: t.array(Widget) }),
    paged: true,
    hasRevision: false,
    example: { output: { widgets: [widget] } },
    loadSubject,
    execute: async ({ bodyHash }) => {
      hashes.push(bodyHash);
      return E.right({ status: 200, body: { widgets: [widget], nextCursor: 'n/1' }, nextCursor: 'n/1' });
    },
  };
  const createWidget: Operation = {
    ...common,
    name: 'create_widget',
    summary: 'Create a widget',
    kind: 'command',
    scope: 'flows:write',
    failures: ['project-not-found'],
    http: post('/v1/projects/:projectId/widgets', 201),
    input: creation,
    example: { input: { name: 'cog', shape: { teeth: 12 }, colour: null }, output: widget },
    loadSubject,
    execute: async ({ input, bodyHash }) => {
      hashes.push(bodyHash);
      return E.right({ status: 201, body: { ...(input as object), id: widgetId }, revision: 0, position: 7 });
    },
  };
  const renameWidget: Operation = {
    ...common,
    name: 'rename_widget',
    summary: 'Rename a widget',
    kind: 'command',
    scope: 'flows:write',
    http: patch('/v1/widgets/:widgetId'),
    input: t.intersection([byId, t.partial({ name: text({ min: 1, max: 20 }) })]),
    example: { input: { name: 'gear' }, output: widget },
    loadSubject,
    execute: async ({ request, input, bodyHash }) => {
      hashes.push(bodyHash);
      if (request.ifMatch !== null && request.ifMatch !== 3) {
        return E.left(failure('precondition-failed', 'It is at revision 3.'));
      }
      return E.right({ status: 200, body: { ...widget, ...(input as object) }, revision: 4, position: 9 });
    },
  };
  const activateWidget: Operation = {
    ...common,
    name: 'activate_widget',
    summary: 'Activate a widget',
    kind: 'command',
    scope: 'flows:write',
    http: post('/v1/widgets/:widgetId/activate'),
    input: byId,
    loadSubject,
    execute: async ({ bodyHash }) => {
      hashes.push(bodyHash);
      return E.right({ status: 200, body: widget, revision: 3 });
    },
  };
  const deleteWidget: Operation = {
    ...common,
    name: 'delete_widget',
    summary: 'Delete a widget',
    kind: 'command',
    scope: 'flows:write',
    http: remove('/v1/widgets/:widgetId', 204),
    input: byId,
    output: null,
    hasRevision: false,
    example: {},
    loadSubject,
    execute: async ({ bodyHash }) => {
      hashes.push(bodyHash);
      return E.right({ status: 204, body: undefined, position: 11 });
    },
  };
  const breakWidget: Operation = {
    ...common,
    name: 'break_widget',
    summary: 'Fail in one of several ways',
    kind: 'command',
    scope: 'flows:write',
    http: put('/v1/widgets/:widgetId/break/:name'),
    input: t.type({ widgetId: cuid, name: t.string }),
    example: {},
    loadSubject,
    execute: async ({ request: { parameters } }) => {
      if (parameters.name === 'unavailable') throw new UnavailableError('The log is down.', 3);
      if (parameters.name === 'outage') throw new UnavailableError('The log is down.', 3, true);
      if (parameters.name === 'rate') return E.left(failure('rate-limited', 'Slow down.', { retryAfterSeconds: 9 }));
      throw new Error('secret inside');
    },
  };
  const complete: Operation = {
    ...common,
    name: 'complete_chat',
    summary: 'Answer as the gateway does',
    kind: 'command',
    plane: 'gateway',
    group: 'Gateway',
    scope: null,
    failures: [],
    http: post('/v1/chat/completions'),
    input: t.type({ model: t.string, messages: t.array(t.type({ role: t.string })) }),
    output: t.UnknownRecord,
    hasRevision: false,
    example: { input: { model: 'auto', messages: [{ role: 'user' }] }, output: {} },
    loadSubject,
    execute: async ({ bodyHash }) => {
      hashes.push(bodyHash);
      return E.right({ status: 200, body: {} });
    },
  };
  return [getWidget, listWidgets, createWidget, renameWidget, activateWidget, deleteWidget, breakWidget, complete];
}

/** A running service of fake operations. */
export interface FakeService extends HttpServer {
  readonly url: string;
  /** The requests that operations received. */
  readonly seen: Asked[];
  /** The hashes of the bodies that they read. */
  readonly hashes: string[];
  /** Everything logged, as text. */
  readonly logged: () => string;
}

/** Replacements of the fakes. */
export interface FakeServiceOptions extends Partial<AppOptions> {
  readonly authenticate?: InvokeDependencies['authenticate'];
}

/** Starts a service on a free port; options and limits replace the fakes. */
export async function startFakeService(
  { authenticate, admission = new Admission(), ...more }: FakeServiceOptions = {},
  limits: ServerLimits = {},
): Promise<FakeService> {
  const seen: Asked[] = [];
  const hashes: string[] = [];
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const metrics = createMetrics();
  const log = loggerOn('info', sink);
  const app = createApp({
    operations: fakeOperations(seen, hashes),
    invoke: createInvoke({
      authenticate: authenticate ?? (async (key) => (key === goodKey ? caller : null)),
      admission,
      metrics,
      logger: log,
    }),
    readiness: async () => [{ name: 'log', ready: true, detail: 'at position 1' }],
    version: '0.2.0',
    metrics,
    log,
    limits: { maxBodyBytes: 4_096, maxBodyValues: 1_000 },
    admission,
    ...more,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 }, limits);
  return { ...server, url: `http://127.0.0.1:${server.port}`, seen, hashes, logged: () => lines.join('') };
}
