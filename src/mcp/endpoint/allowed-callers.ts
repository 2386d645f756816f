import type { IncomingHttpHeaders } from 'node:http';
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { isLoopback } from '#shared/http/loopback.ts';

export interface AllowedCallers {
  readonly host: string;
  /** Further origins next to the service's own, such as `https://app.example.com`. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/**
 * A page of another site sends its `Origin`. A page whose domain points to this machine (DNS rebinding) sends a foreign
 * `Host`. Behind a proxy `Host` may be anything, so it is checked on loopback only.
 * @returns why the request is refused; null if it is allowed
 */
export function checkCallers(
  headers: IncomingHttpHeaders,
  { host: listening, allowedOrigins }: AllowedCallers,
): Failure | null {
  const { origin, host } = headers;
  if (isLoopback(listening) && !validateHostHeader(host, hostnames(allowedOrigins)).ok) {
    return failure(
      'origin-not-allowed',
      'The Host header names another machine. Call localhost, or set MCP_ALLOWED_ORIGINS where a proxy forwards to it.',
    );
  }
  if (origin === undefined || allowedOrigins.has(origin) || isOwn(origin, host)) return null;
  return failure(
    'origin-not-allowed',
    'The page that called is of another origin. MCP_ALLOWED_ORIGINS lists those that may.',
  );
}

function hostnames(allowedOrigins: ReadonlySet<string>): string[] {
  return [...localhostAllowedHostnames(), ...[...allowedOrigins].map((origin) => new URL(origin).hostname)];
}

/** True for the service's own origin. A proxy in front of it may use another scheme. */
function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
