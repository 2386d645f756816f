import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { maxSessionMs, tokenForm } from '#application/access/page-sessions.ts';
import { isLoopback } from '#shared/http/loopback.ts';

/** The header without which a cookie does not count. No link, form, image or download of another page can send it. */
const sessionHeader = 'switchyard-session';
const plainName = 'switchyard-session';

type Request = Pick<IncomingMessage, 'headers' | 'socket'>;

export class SessionCookie {
  readonly #publicOrigin: string | null;
  readonly #name: string;

  /** @param publicUrl the https address of the page; null if sessions work on loopback addresses alone */
  constructor(publicUrl: URL | null) {
    this.#publicOrigin = publicUrl?.origin ?? null;
    this.#name = publicUrl === null ? plainName : `__Host-${plainName}`;
  }

  /**
   * True for a request of the service's own page, which may have a session, has the header that only a script of the
   * page can send, and its `Origin`, if there is one, is the page's.
   */
  isFromPage(request: Request): boolean {
    const { headers } = request;
    const own = this.#ownOrigin(request);
    const isOwn = headers.origin === undefined || headers.origin === own;
    const site = headers['sec-fetch-site'];
    return own !== null && isOwn && headers[sessionHeader] === '1' && (site === undefined || site === 'same-origin');
  }

  tokenOf(request: Request): string | null {
    return this.isFromPage(request) ? this.tokenIn(request.headers) : null;
  }

  /**
   * The token of a request that was accepted; null without a token. A cookie that is there twice does not count:
   * another site of the same domain may have set one.
   */
  tokenIn({ cookie = '' }: IncomingHttpHeaders): string | null {
    const values = cookie.split(';').flatMap((pair) => {
      const [name, ...value] = pair.split('=');
      return name?.trim() === this.#name ? [value.join('=').trim()] : [];
    });
    const [token, ...others] = values;
    return token !== undefined && others.length === 0 && tokenForm.test(token) ? token : null;
  }

  /** The value of `Set-Cookie` that begins a session. */
  beginning(token: string): string {
    return this.#cookie(token, Math.floor(maxSessionMs / 1_000));
  }

  /** The value of `Set-Cookie` that ends a session. */
  get ending(): string {
    return this.#cookie('', 0);
  }

  /** With a public address every request is one of its pages; without it, only requests within this machine are. */
  #ownOrigin({ headers: { host = '' }, socket }: Request): string | null {
    if (this.#publicOrigin !== null) return this.#publicOrigin;
    return isLoopback(socket.remoteAddress ?? '') && isLoopback(hostnameOf(host)) ? `http://${host}` : null;
  }

  #cookie(value: string, maxAgeSeconds: number): string {
    const secure = this.#publicOrigin === null ? '' : '; Secure';
    return `${this.#name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
  }
}

/** The name of the host without the port; empty for a header that cannot be read. */
function hostnameOf(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '') : '';
}
