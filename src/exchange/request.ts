import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '#domain/shared/access.ts';
import type { Body } from './body.ts';
import type { Client } from './client.ts';
import type { Held } from './held.ts';

/** A request, whoever makes it: a client over HTTP or MCP, a batch, a tool on this machine, or a test. */
export interface Request {
  readonly id: string;
  /** When it arrived, by the monotonic clock in ms. */
  readonly startedAt: number;
  /** The name of its operation, for logs and metrics; `unknown` without one. */
  readonly operation: string;
  /** Method and path as requested, for `Idempotency-Key`: `POST /v1/flows/c…/versions`. */
  readonly target: string;
  /** Path parameters by name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The query string without its question mark; empty without a query. */
  readonly query: string;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Maximum bytes of a list's page that its client takes. */
  readonly maxPageBytes: number;
  readonly client: Client;
  /** What it holds, until it is answered. */
  readonly held: Held;
}

/** A request whose caller is known and may make it. */
export type Authorised = Request & { readonly caller: Caller };
