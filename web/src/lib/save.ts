// Hands a file made in the page to the reader: a download without any server.

export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser reads the address when its download begins, which is later than the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Part of a file name from any title. */
export function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}
