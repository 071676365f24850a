// Starts the report: reads the injected document and mounts the page.

import { mount } from "svelte";
import "../lib/page.css";
import "./print.css";
import Report from "./page/Report.svelte";
import { readReport } from "./document/read";

const target = document.getElementById("page");
const data = document.getElementById("report")?.textContent ?? "";
if (target) mount(Report, { target, props: { reading: readReport(data) } });
