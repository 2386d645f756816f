import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';

/**
 * Koa without what it makes anew for every request (a composed chain, a listener on the response, closures). Its one
 * middleware writes the answer straight to the response and never rejects.
 */
export class SlimKoa extends Koa {
  override callback(): ReturnType<Koa['callback']> {
    const [answer, ...others] = this.middleware;
    if (answer === undefined || others.length > 0) throw new Error('The app has one middleware: the HTTP adapter');
    const end = async () => undefined;
    return (req, res) => answer(this.createContext(req as IncomingMessage, res as ServerResponse), end);
  }
}
