// A syllabus as a calendar (.ics): each week of its table, from the week of a day that the teacher names.
const calendarOf = (table, first) => {
  const monday = new Date(first);
  monday.setUTCDate(monday.getUTCDate() - (monday.getUTCDay() + 6) % 7);
  const day = (days) => new Date(+monday + days * 864e5).toISOString().slice(0, 10).replaceAll("-", "");
  const words = (text) => text.replace(/\s+/g, " ").trim().replace(/[\\;,]/g, "\\$&");
  const events = [...table.tBodies[0].rows].flatMap(({ cells: [week, pages, assignment] }, k) => [
    "BEGIN:VEVENT",
    `UID:${day(0)}-${k + 1}-of-${table.tBodies[0].rows.length}@proofs-you-can-run`,
    `DTSTAMP:${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`,
    `DTSTART;VALUE=DATE:${day(7 * k)}`,
    `DTEND;VALUE=DATE:${day(7 * k + 5)}`,
    `SUMMARY:Week ${words(week.textContent)}: ${words(pages.textContent)}`,
    `DESCRIPTION:${assignment.textContent.trim() && `Handed out at its end: ${words(assignment.textContent)}`}`,
    "END:VEVENT",
  ]);
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Proofs You Can Run//Course//EN", ...events, "END:VCALENDAR"];
  return lines.map((line) => `${line.replace(/.{60}(?=.)/gu, "$&\r\n ")}\r\n`).join("");  // lines are short there
};
for (const table of document.querySelectorAll("table:has(th)")) {
  if (table.querySelector("th").textContent !== "week") continue;
  const form = Object.assign(document.createElement("form"), { className: "calendar" });
  form.innerHTML = '<label>The term begins on <input type="date" required></label> <button>Calendar (.ics)</button>';
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = calendarOf(table, form.querySelector("input").value), type = "text/calendar";
    const href = URL.createObjectURL(new Blob([text], { type }));
    Object.assign(document.createElement("a"), { download: "course.ics", href }).click();
  });
  table.parentElement.after(form);
}
