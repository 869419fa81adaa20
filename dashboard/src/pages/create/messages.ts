/** What the server finds wrong, in the words of the form. Pure. */

interface Finding {
  message: string;
  path: string;
  input: string;
}

/** How the server says that something is no amount. */
const NO_AMOUNT = /should match '\^\(.*'$/;
const AN_AMOUNT = "must be an amount such as 2, 500m or 16Gi";
/** How it says that something is no name. */
const NO_NAME = /(?<=": ).*(?:RFC |DNS-)1(?:035|123).*$/s;
const A_NAME = "must be lowercase letters, digits and hyphens, with a letter first and no hyphen at the end";

/** What is said beside a field of the form: without its path in the manifest, and each thing once. */
export function messagesFor(findings: readonly Finding[], input: string): string[] {
  const said = findings
    .filter((item) => item.input === input)
    .map((item) =>
      item.message.replace(`${item.path}: `, "").replace(NO_AMOUNT, AN_AMOUNT).replace(NO_NAME, A_NAME),
    );
  return [...new Set(said)];
}
