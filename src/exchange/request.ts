import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '#domain/shared/access.ts';
import type { Body } from './body.ts';
import type { Client } from './client.ts';
import type { Held } from './held.ts';

/** Made by a client over HTTP or MCP, a batch, a tool on this machine, or a test. */
export interface Request {
  readonly id: string;
  /** By the monotonic clock, in ms. */
  readonly startedAt: number;
  /** For logs and metrics; `unknown` without one. */
  readonly operation: string;
  /** Method and path as requested, for `Idempotency-Key`: `POST /v1/flows/c…/versions`. */
  readonly target: string;
  /** Of the path, by name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Without its question mark; empty without a query. */
  readonly query: string;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Of a list's page that its client accepts. */
  readonly maxPageBytes: number;
  readonly client: Client;
  /** Until it is answered. */
  readonly held: Held;
}

/** Its caller is known and may make it. */
export type Authorised = Request & { readonly caller: Caller };
