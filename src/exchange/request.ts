import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '#domain/shared/access.ts';
import type { Body } from './body.ts';
import type { Client } from './client.ts';
import type { Held } from './held.ts';

/** A request by a client over HTTP or MCP, a batch, a tool on this machine, or a test. */
export interface Request {
  readonly id: string;
  /** When the request came, by the monotonic clock, in ms. */
  readonly startedAt: number;
  /** The name for logs and metrics; `unknown` without an operation. */
  readonly operation: string;
  /** Method and path as requested, for `Idempotency-Key`: `POST /v1/flows/c…/versions`. */
  readonly target: string;
  /** The decoded parameters of the path, by name. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The query without its question mark; empty without one. */
  readonly query: string;
  /** The headers by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Maximum size of a list's page that its client accepts. */
  readonly maxPageBytes: number;
  readonly client: Client;
  /** What the request holds until it is answered. */
  readonly held: Held;
}

/** A request whose caller is known and may make it. */
export type Authorised = Request & { readonly caller: Caller };
