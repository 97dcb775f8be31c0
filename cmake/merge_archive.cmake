# Adds the members of the archives FROM to the archive INTO: cmake -DAR=… -DINTO=… "-DFROM=…;…" -DSCRATCH=… -P merge_archive.cmake
# One after the other, so that equal names of members in two of them do not meet in a folder; `q` keeps equal names in the archive.
foreach(archive IN LISTS FROM)
  file(REMOVE_RECURSE ${SCRATCH})
  file(MAKE_DIRECTORY ${SCRATCH})
  execute_process(COMMAND ${AR} x ${archive} WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB members ${SCRATCH}/*)
  execute_process(COMMAND ${AR} qs ${INTO} ${members} ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
