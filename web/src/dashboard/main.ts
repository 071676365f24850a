// Starts the dashboard page.

import { mount } from "svelte";
import "../lib/page.css";
import Dashboard from "./Dashboard.svelte";

const target = document.getElementById("page");
if (target) mount(Dashboard, { target });
