/** When the document is whole: `start.ts` does not wait for it, so whoever draws the page has to. */

const STYLES = 'link[rel="stylesheet"]';

/** Settles when the document is read to its end and its styles are there, or cannot be had. */
export async function arrived(document: Document): Promise<void> {
  if (document.readyState === "loading") await once(document, "DOMContentLoaded");
  const styles = [...document.querySelectorAll<HTMLLinkElement>(STYLES)];
  await Promise.all(styles.filter((link) => !link.sheet).map((link) => once(link, "load", "error")));
}

function once(target: EventTarget, ...types: string[]): Promise<void> {
  return new Promise((resolve) => {
    for (const type of types) target.addEventListener(type, () => resolve(), { once: true });
  });
}
