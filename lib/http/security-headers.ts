/** What every answer tells a browser; docs/decisions/151-a-policy-with-a-nonce.md. */

const everywhere = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** For JSON, text and streams: nothing in them may run, load or be framed. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...everywhere,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** For pages. Next puts the nonce on its own scripts when it finds the policy among the request's headers. */
export function pageHeaders(nonce: string, isDevelopment: boolean): Readonly<Record<string, string>> {
  return { ...everywhere, "content-security-policy": pagePolicy(nonce, isDevelopment) };
}

function pagePolicy(nonce: string, isDevelopment: boolean): string {
  // React's error overlay evaluates code, and pages that reload as you type are told so by a socket and inline styles.
  const scripts = `'self' 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ""}`;
  const styles = isDevelopment ? "'self' 'unsafe-inline'" : `'self' 'nonce-${nonce}'`;
  return [
    "default-src 'self'",
    `script-src ${scripts}`,
    "script-src-attr 'none'",
    `style-src ${styles}`,
    // Widths of bars and colours of series are style attributes; no selector and no script can be put there.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${isDevelopment ? " ws:" : ""}`,
    "object-src 'none'",
    "frame-src 'none'",
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
