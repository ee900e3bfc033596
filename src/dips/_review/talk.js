"use strict";
// Talks to the server. Every question is a POST with a JSON body, so that nothing of the data stands in an address.

class Refused extends Error {
  constructor(message, answer, status) {
    super(message);
    this.answer = answer;
    this.status = status;
  }
}

/** Ask, and return the answer; what the server refuses becomes an error in its words. */
async function ask(what, question = {}) {
  const response = await fetch(`/api/${what}`, {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  const answer = await response.json().catch(() => ({ error: `The server answered with ${response.status}.` }));
  if (!response.ok) throw new Refused(answer.error, answer, response.status);
  return answer;
}

/** Ask for something that changes the review. A lost answer is asked for again under the same key, which counts once. */
async function tell(what, question) {
  const keyed = { ...question, client: newKey() };
  for (let pause = 250; ; pause = Math.min(2 * pause, 5000)) {
    try {
      return await ask(what, keyed);
    } catch (error) {
      if (error instanceof Refused || pause >= 5000) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** The token after the # becomes a cookie, and leaves the address at once. */
async function enter() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", "/");
  await ask("enter", { token }).catch((error) => {
    if (!(error instanceof Refused)) throw error; // used before, by this browser perhaps; its cookie then serves
  });
}

/** Save what the server exports as a file. */
async function download(name) {
  const response = await fetch("/api/export", {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name }),
  });
  if (!response.ok) throw new Refused((await response.json()).error, {}, response.status);
  const named = /filename="(.*)"/.exec(response.headers.get("Content-Disposition") || "");
  const link = make("a", { download: named ? named[1] : name });
  link.href = URL.createObjectURL(await response.blob());
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
