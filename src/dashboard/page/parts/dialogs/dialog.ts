import type { VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type Children, html } from '#dashboard/page/html.ts';

/** Esc closes it, and the focus returns to the element that opened it. */
export function Dialog(props: { title: string; onClose: () => void; footer: Children; children?: Children }): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const title = useId();
  useLayoutEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return html`<dialog ref=${element} aria-labelledby=${title} onClose=${props.onClose}>
    <header><h2 id=${title}>${props.title}</h2></header>
    <div class="body">${props.children}</div>
    <footer>${props.footer}</footer>
  </dialog>`;
}
