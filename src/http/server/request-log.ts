import type { Context } from 'koa';
import type { Logger as PinoLogger } from 'pino';
import type { Metrics } from '#http/routes/metrics.ts';
import type { RequestContext } from './request-context.ts';

/** The status in logs and metrics if the client left before its answer was complete. */
const clientGoneStatus = 499;

/** Paths that machines ask for every few seconds: their log lines help only to find a fault. */
const polledPaths = new Set(['/healthz', '/readyz', '/metrics']);

/** Records every answered request: one line in the log, and the metrics. */
export class RequestLog {
  readonly #log: PinoLogger;
  readonly #metrics: Pick<Metrics, 'request'>;

  constructor(log: PinoLogger, metrics: Pick<Metrics, 'request'>) {
    // Its fields are fixed and hold no secret. A search for secrets in every line would cost as much as the line.
    this.#log = log.child({}, { redact: [] });
    this.#metrics = metrics;
  }

  record(context: RequestContext): void {
    const { ctx, name, pathTemplate, keyId, requestId, started, relayed } = context;
    const milliseconds = performance.now() - started;
    const method = methodOf(ctx.req.method);
    const status = relayed?.status ?? statusOf(ctx);
    this.#metrics.request(name, method, status, milliseconds / 1_000);
    const level = pathTemplate !== null && polledPaths.has(pathTemplate) ? 'debug' : 'info';
    if (!this.#log.isLevelEnabled(level)) return;
    const code = context.code ?? relayed?.code ?? null;
    this.#log[level](
      {
        method,
        path: pathTemplate,
        operation: name,
        status,
        ms: Math.round(milliseconds * 100) / 100,
        ...(code === null ? {} : { code }),
        ...(relayed === null || relayed.model === null ? {} : modelFields(relayed)),
        requestId,
        keyId,
      },
      'request',
    );
  }
}

function modelFields({ model, target, attempts }: NonNullable<RequestContext['relayed']>) {
  return { model, target, attempts };
}

/** Returns the status that was sent; an interrupted answer has a special one. */
function statusOf({ res }: Context): number {
  const isCutOff = res.destroyed && !res.writableFinished;
  return res.headersSent && !isCutOff ? res.statusCode : clientGoneStatus;
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Returns a method as a label. Invented methods of clients must not add metrics. */
function methodOf(method: string | undefined): string {
  return method !== undefined && methods.has(method) ? method : 'other';
}
