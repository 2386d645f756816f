import { connect } from 'node:tls';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import { causeOf } from './unavailable-cause.ts';

const handshakeMs = 300;

/**
 * Reads why a call failed. A server that requires TLS closes a plain connection, which looks like a server that is
 * down. So if the URL has `tls=false`, this tries a TLS handshake.
 * @param url see `connectionUrl`
 */
export async function explainFailure(url: string, failure: unknown): Promise<UnavailableCause> {
  const cause = causeOf(failure);
  if (cause.isPermanent || !/[?&]tls=false(?:&|$)/i.test(url)) return cause;
  const [, authority = ''] = /^[^/]+:\/\/(?:[^@?/]*@)?([^?/]+)/.exec(url) ?? [];
  const answers = await Promise.all(authority.split(',').map(speaksTls));
  return answers.includes(true) ? wantsTls : cause;
}

const wantsTls: UnavailableCause = {
  detail: 'EVENT_STORE_URL says tls=false and the server speaks TLS: use tls=true',
  isPermanent: true,
};

function speaksTls(address: string): Promise<boolean> {
  const url = URL.parse(`tls://${address}`);
  if (url === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const port = url.port === '' ? 2113 : Number(url.port);
    // Tests only the handshake and sends no data.
    const socket = connect({ host: url.hostname, port, rejectUnauthorized: false, timeout: handshakeMs });
    const end = (speaks: boolean) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once('secureConnect', () => end(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => end(false));
  });
}
